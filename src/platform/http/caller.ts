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

/**
 * The authenticated caller, required by every use case on tenant data. `keyId` is null for the operator, worker loops and sessions
 * without a key. `sessionId` and `subject`, who signed in, are set if a browser called with a session.
 */
export type Caller = {
  orgId: OrgId;
  keyId: string | null;
  scopes: ReadonlySet<string>;
  /** When the credential of the caller ends. Null: never. Nothing that the caller creates stays valid longer. */
  expiresAt: Date | null;
  sessionId?: string;
  subject?: string;
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
export type Author = Pick<Caller, 'orgId' | 'keyId' | 'subject'>;
