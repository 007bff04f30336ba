import type { Scope } from '../caller.ts';
import type { GroupGrants } from './oidc-settings.ts';

export type Grant = { organization: string; scopes: Scope[] };

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
