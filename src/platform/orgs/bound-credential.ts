import { appError } from '../lib/errors.ts';
import type { OrgId } from '../lib/org-id.ts';
import type { Caller } from './caller.ts';

declare const isBounded: unique symbol;

/** What a credential opens, and until when. Null: it never ends. */
type Worth = { orgId: OrgId; scopes: readonly string[]; expiresAt: Date | null };

/** The worth of a credential that a caller may create or renew. Only `boundCredential` returns one, and every credential is stored with one. */
export type BoundedWorth = Worth & { readonly [isBounded]: true };

/**
 * Bounds a credential by the caller who creates, renews or replaces it: it belongs to the caller's organization, has no scope that the caller
 * lacks, and ends no later than the caller's own credential. Without `expiresAt` it ends with the caller's. Throws 403 otherwise.
 */
export function boundCredential(
  caller: Pick<Caller, 'orgId' | 'scopes' | 'expiresAt'>,
  { scopes, expiresAt = caller.expiresAt }: { scopes: readonly string[]; expiresAt?: Date | null | undefined },
): BoundedWorth {
  requireScopes(caller, scopes);
  if (caller.expiresAt !== null && (expiresAt === null || expiresAt > caller.expiresAt))
    throw appError(
      'forbidden',
      `The calling key is valid until ${caller.expiresAt.toISOString()} and cannot create or renew one that is valid longer.`,
    );
  return { orgId: caller.orgId, scopes, expiresAt } as BoundedWorth;
}

/** Throws 403 if the caller lacks one of the scopes, so that nothing acts for a caller with a power that the caller does not have. */
export function requireScopes(caller: Pick<Caller, 'scopes'>, scopes: readonly string[]): void {
  const missing = scopes.find((scope) => !caller.scopes.has(scope));
  if (missing !== undefined)
    throw appError('forbidden', `The calling key lacks the scope ${missing} and cannot grant it.`);
}

/** Returns the earlier of two ends. Null: never. */
export const earlierEnd = (one: Date, other: Date | null): Date => (other !== null && other < one ? other : one);
