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
 * The authenticated caller, required by every use case on tenant data. `keyId` is null for the command line, worker loops and sessions
 * without a key. `sessionId` and `subject`, who signed in, are set if a browser called with a session.
 */
export type Caller = {
  orgId: OrgId;
  keyId: string | null;
  scopes: ReadonlySet<string>;
  sessionId?: string;
  subject?: string;
  /** The organization is suspended, so that the request is refused. */
  isSuspended?: boolean;
  /** How many requests its organization may send to one process. Null or undefined: any number. */
  requestsPerMinute?: number | null;
};

/** The part of a caller that histories record. */
export type Author = Pick<Caller, 'orgId' | 'keyId' | 'subject'>;
