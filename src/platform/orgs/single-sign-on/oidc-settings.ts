import { z } from 'zod';
import { parseJsonSetting } from '../../lib/settings-input.ts';
import { roles, roleScopes, scopes, type Scope } from '../../http/caller.ts';

const GroupGrants = z.record(
  z.string().min(1).max(500),
  z
    .strictObject({
      organization: z.string().min(1).max(255).default('default'),
      role: z.enum(roles).optional(),
      scopes: z.array(z.enum(scopes)).min(1).optional(),
    })
    .refine(({ role, scopes }) => role !== undefined || scopes !== undefined, 'needs a role or scopes')
    .transform(({ organization, role, scopes = [] }) => ({
      organization,
      scopes: [...new Set([...(role ? roleScopes[role] : []), ...scopes])],
    })),
);

/** The organization and scopes that each group of the identity provider grants, by the group's name. */
export type GroupGrants = z.infer<typeof GroupGrants>;

/** The identity provider that people sign in with. */
export type OidcSettings = {
  issuer: string;
  clientId: string;
  /** Undefined for a public client, which PKCE alone protects. */
  clientSecret: string | undefined;
  /** Scopes requested from the provider, separated by spaces. */
  scope: string;
  groupsClaim: string;
  groups: GroupGrants;
  /** Address of this service without a slash at the end. */
  publicUrl: string;
};

type Values = {
  TOCSIN_OIDC_ISSUER?: string | undefined;
  TOCSIN_OIDC_CLIENT_ID?: string | undefined;
  TOCSIN_OIDC_CLIENT_SECRET?: string | undefined;
  TOCSIN_OIDC_GROUPS?: string | undefined;
  TOCSIN_OIDC_GROUPS_CLAIM: string;
  TOCSIN_OIDC_SCOPES: string;
};

/** Returns the settings of single sign-on, or null if none is set. Throws an error that lists what is missing if only some are. */
export function readOidcSettings(values: Values, publicUrl: string | null): OidcSettings | null {
  const {
    TOCSIN_OIDC_ISSUER: issuer,
    TOCSIN_OIDC_CLIENT_ID: clientId,
    TOCSIN_OIDC_CLIENT_SECRET: clientSecret,
    TOCSIN_OIDC_GROUPS: groups,
  } = values;
  if (!issuer && !clientId && !clientSecret && !groups) return null;
  if (!issuer || !clientId || !groups || !publicUrl) {
    const required = {
      TOCSIN_OIDC_ISSUER: issuer,
      TOCSIN_OIDC_CLIENT_ID: clientId,
      TOCSIN_OIDC_GROUPS: groups,
      TOCSIN_PUBLIC_URL: publicUrl,
    };
    const missing = Object.keys(required).filter((name) => !required[name as keyof typeof required]);
    throw new Error(missing.map((name) => `${name}: required for single sign-on`).join('; '));
  }
  return {
    issuer,
    clientId,
    clientSecret,
    scope: values.TOCSIN_OIDC_SCOPES,
    groupsClaim: values.TOCSIN_OIDC_GROUPS_CLAIM,
    groups: parseJsonSetting('TOCSIN_OIDC_GROUPS', groups, GroupGrants),
    publicUrl,
  };
}

type Grant = { organization: string; scopes: Scope[] };

/**
 * Returns what a person with these groups may do, or undefined if none of the groups is mapped. The first mapped group in the order of the
 * settings selects the organization; the scopes are those of all groups that are mapped to it.
 */
export function mapGroups(mapped: GroupGrants, groups: readonly string[]): Grant | undefined {
  const granted = Object.entries(mapped).flatMap(([name, grant]) => (groups.includes(name) ? [grant] : []));
  const [first] = granted;
  if (!first) return undefined;
  const { organization } = first;
  const own = granted.filter((grant) => grant.organization === organization);
  return { organization, scopes: [...new Set(own.flatMap(({ scopes }) => scopes))] };
}

/** Reads the groups from a claim, which is a list of names or a single name. Undefined if there is no such claim. */
export function readGroups(claim: unknown): string[] | undefined {
  if (claim === undefined || claim === null) return undefined;
  return [claim].flat().filter((group): group is string => typeof group === 'string');
}
