import type { Tx } from '../../db/db.ts';
import { appError, type AppError } from '../../lib/errors.ts';
import type { OrgId } from '../../lib/org-id.ts';
import type { QuotaName } from './limits.schema.ts';
import { lockQuota, readQuota } from './limits.store.ts';

type CountedQuota = Extract<QuotaName, 'enabledDetections' | 'feedSources' | 'feedItems' | 'apiKeys'>;
const nouns: Record<CountedQuota, string> = {
  enabledDetections: 'enabled detections',
  feedSources: 'feed sources',
  feedItems: 'feed items of its own',
  apiKeys: 'active API keys',
};

const remedies: Record<CountedQuota, string> = {
  enabledDetections: 'Delete or disable one',
  feedSources: 'Delete one',
  feedItems: 'Retract one',
  apiKeys: 'Revoke one',
};

/**
 * Throws `quota_reached` (409) if the organization already has as many as its quota allows. `count` returns their number. Transactions that
 * add to the same quota wait for each other, so that none exceeds it. Without the quota, neither counts nor waits.
 */
export async function requireQuota(
  tx: Tx,
  orgId: OrgId,
  quota: CountedQuota,
  count: () => Promise<number>,
): Promise<void> {
  const limit = await readQuota(tx, orgId, quota);
  if (limit === null) return;
  await lockQuota(tx, orgId, quota);
  const used = await count();
  if (used < limit) return;
  const noun = nouns[quota];
  throw appError(
    'quota_reached',
    `The organization has ${used} of the ${limit} ${noun} that its quota allows. ${remedies[quota]}, or ask the operator of this service for more.`,
    { quota: { name: quota, limit, used, resetsAt: null } },
  );
}

/** Returns the error for a quota that is free again at some time. `detail` ends with a period. */
export function quotaExceeded(
  quota: { name: QuotaName; limit: number; used: number; resetsAt: Date | null },
  { now, detail, retryAfterMs }: { now: Date; detail: string; retryAfterMs?: number },
): AppError {
  const waitMs = retryAfterMs ?? (quota.resetsAt ? quota.resetsAt.getTime() - now.getTime() : 0);
  return appError('quota_exceeded', `${detail} Ask the operator of this service for more, or try again later.`, {
    quota: { ...quota, resetsAt: quota.resetsAt?.toISOString() ?? null },
    headers: { 'retry-after': String(Math.max(1, Math.ceil(waitMs / 1000))) },
  });
}
