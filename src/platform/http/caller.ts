import type { OrgId } from '../lib/org-id.ts';

export const scopes = [
  'feed:admin',
  'detections:read',
  'detections:write',
  'detections:run',
  'hits:read',
  'hits:write',
  'feed:read',
  'feed:write',
  'logs:write',
  'connections:admin',
  'keys:admin',
  'audit:read',
  'privacy:admin',
] as const;
export type Scope = (typeof scopes)[number];

const readerScopes: readonly Scope[] = ['hits:read', 'detections:read', 'feed:read'];
const analystScopes: readonly Scope[] = [...readerScopes, 'hits:write', 'detections:run'];

/** What each role of a person includes. `feed:admin` is for what all organizations share, so no role has it. */
export const roleScopes = {
  viewer: readerScopes,
  analyst: analystScopes,
  engineer: [...analystScopes, 'detections:write', 'feed:write'],
  administrator: scopes.filter((scope) => scope !== 'feed:admin'),
} satisfies Record<string, readonly Scope[]>;

export type Role = keyof typeof roleScopes;
export const roles = Object.keys(roleScopes) as Role[];

/**
 * The authenticated caller, required by every use case on tenant data. `keyId` is null for the operator, worker loops and sessions
 * without a key. `sessionId` and `subject`, the name of who signed in, are set if a browser called with a session.
 */
export type Caller = {
  orgId: OrgId;
  keyId: string | null;
  scopes: ReadonlySet<string>;
  /** When the credential of the caller ends. Null: never. Nothing that the caller creates stays valid longer. */
  expiresAt: Date | null;
  sessionId?: string;
  subject?: string;
  /** The person who signed in. Undefined for the session of a key. */
  personId?: string;
  /** Acts for the operator of the installation, who may read the machine's files. Never set for a key or a session. */
  isOperator?: true;
  /** The organization is suspended, so that the request is refused. */
  isSuspended?: boolean;
  /** How many requests its organization may send to one process. Null or undefined: any number. */
  requestsPerMinute?: number | null;
};

/**
 * Returns a caller above the keys of an organization: the command line, the key of the installation and the start of the service, which act for
 * the operator.
 */
export const operatorOf = (orgId: OrgId): Caller => ({
  orgId,
  keyId: null,
  scopes: new Set<string>(scopes),
  expiresAt: null,
  isOperator: true,
});

/** The part of a caller that histories record. */
export type Author = Pick<Caller, 'orgId' | 'keyId' | 'subject' | 'personId'>;
