import { acrossOrgs, inOrg, type Db, type Tx } from '../../db/db.ts';
import { type Clock, withIsoTimes } from '../../lib/time/clock.ts';
import type { OrgId } from '../../lib/org-id.ts';
import { insertAudit } from '../audit.store.ts';
import { unknownOrganization } from '../organization.ts';
import { requireMatch } from '../record-version.ts';
import { findOrgAcrossOrgs, lockOrgAcrossOrgs, type OrgReference } from '../orgs.store.ts';
import {
  quotaNames,
  type ChangeQuotas,
  type OrganizationQuotas,
  type Quotas,
  type QuotaName,
} from './limits.schema.ts';
import { readQuotas, storeQuotasAcrossOrgs, listQuotaStates, lockQuota, readQuota } from './limits.store.ts';
import { appError, type AppError } from '../../lib/errors.ts';

export type QuotaDeps = { db: Db; clock: Clock };

/** Returns the quotas of an organization and how much of each is used. `clock` is slot time. */
export function readOrganizationQuotas({ db, clock }: QuotaDeps, orgId: OrgId): Promise<OrganizationQuotas> {
  return inOrg(db, orgId, async (tx) => {
    const { updatedAt, ...quotas } = await readQuotas(tx, orgId);
    const states = await listQuotaStates(tx, orgId, clock());
    return { quotas, states, ...toVersion(updatedAt) };
  });
}

/** Returns the ID of an organization. Throws 404 for an unknown one. */
export async function requireOrgId(db: Db, reference: OrgReference): Promise<OrgId> {
  const org = await acrossOrgs(db, (tx) => findOrgAcrossOrgs(tx, reference));
  if (!org) throw unknownOrganization(reference);
  return org.id;
}

const toVersion = (updatedAt: Date | null) => ({ updatedAt: updatedAt?.toISOString() ?? null });

const mergeQuotas = (before: Quotas, changes: ChangeQuotas): Quotas =>
  Object.fromEntries(
    quotaNames.map((name) => [name, changes[name] === undefined ? before[name] : changes[name]]),
  ) as Quotas;

/**
 * Changes the quotas that `changes` has. Null removes one. Existing records beyond a quota stay. The audit log of the
 * organization shows the operator. Throws 404 for an unknown organization, and 412 if `ifMatch` is not the current ETag.
 */
export async function changeQuotas(
  deps: QuotaDeps,
  reference: OrgReference,
  { changes, operator, ifMatch }: { changes: ChangeQuotas; operator: string; ifMatch?: string | undefined },
): Promise<OrganizationQuotas> {
  const orgId = await acrossOrgs(deps.db, async (tx) => {
    const org = await lockOrgAcrossOrgs(tx, reference);
    if (!org) throw unknownOrganization(reference);
    const { updatedAt, ...before } = await readQuotas(tx, org.id);
    const change = { action: 'organization.quotas_changed', resourceType: 'organization', resourceId: org.id };
    const version = toVersion(updatedAt);
    await requireMatch(tx, ifMatch, version, { ...change, orgId: org.id });
    const after: Quotas = mergeQuotas(before, changes);
    if (JSON.stringify(after) === JSON.stringify(before)) return org.id;
    await storeQuotasAcrossOrgs(tx, org.id, after);
    const stored = toVersion((await readQuotas(tx, org.id)).updatedAt);
    const author = { orgId: org.id, keyId: null, subject: operator };
    await insertAudit(tx, author, { ...change, before: { ...before, ...version }, after: { ...after, ...stored } });
    return org.id;
  });
  return readOrganizationQuotas(deps, orgId);
}

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

/** Throws `quota_reached` (409) if the organization already has as many as its quota allows (`openQuota`). */
export const requireQuota = async (...quota: Parameters<typeof openQuota>): Promise<void> =>
  (await openQuota(...quota))();

/**
 * Returns a function that counts one more, and throws `quota_reached` (409) if the organization then has more than its quota allows. `count` returns
 * how many it has. Transactions that add to the same quota wait for each other, so that none exceeds it. Without the quota, neither counts nor waits.
 */
export async function openQuota(
  tx: Tx,
  orgId: OrgId,
  quota: CountedQuota,
  count: () => Promise<number>,
): Promise<() => void> {
  const limit = await readQuota(tx, orgId, quota);
  if (limit === null) return () => undefined;
  await lockQuota(tx, orgId, quota);
  let used = await count();
  const noun = nouns[quota];
  return () => {
    if (used >= limit)
      throw appError(
        'quota_reached',
        `The organization has ${used} of the ${limit} ${noun} that its quota allows. ${remedies[quota]}, or ask the operator of this service for more.`,
        { quota: { name: quota, limit, used, resetsAt: null } },
      );
    used += 1;
  };
}

/** Returns the error for a quota that is free again at some time. `detail` ends with a period. */
export function quotaExceeded(
  quota: { name: QuotaName; limit: number; used: number; resetsAt: Date | null },
  { now, detail, retryAfterMs }: { now: Date; detail: string; retryAfterMs?: number },
): AppError {
  const waitMs = retryAfterMs ?? (quota.resetsAt ? quota.resetsAt.getTime() - now.getTime() : 0);
  return appError('quota_exceeded', `${detail} Ask the operator of this service for more, or try again later.`, {
    quota: withIsoTimes(quota),
    headers: { 'retry-after': String(Math.max(1, Math.ceil(waitMs / 1000))) },
  });
}
