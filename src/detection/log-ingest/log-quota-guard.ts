import { LRUCache } from 'lru-cache';
import type { AppError } from '../../platform/lib/errors.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';

/** How long a refusal is repeated without reading the body and the quota again. */
const repeatMs = 5_000;
const organizationsMax = 10_000;

/** Remembers which organizations have used up a quota, so that refusing them costs nothing. */
export type LogQuotaGuard = {
  /** Throws the last refusal of an organization if it is a few seconds old. */
  check: (orgId: OrgId) => void;
  note: (orgId: OrgId, refusal: AppError) => void;
};

/** Creates a guard for one process. */
export function createLogQuotaGuard(): LogQuotaGuard {
  const refusals = new LRUCache<OrgId, AppError>({ max: organizationsMax, ttl: repeatMs });
  return {
    check(orgId) {
      const refusal = refusals.get(orgId);
      if (refusal) throw refusal;
    },
    note: (orgId, refusal) => void refusals.set(orgId, refusal),
  };
}
