import { acrossOrgs, type Db, type Tx, inOrg } from '../db/db.ts';
import type { Clock } from '../lib/time/clock.ts';
import type { Logger } from '../lib/logging/logger.ts';
import { runLoop } from '../lib/concurrency/loop.ts';
import { fieldError } from '../lib/errors.ts';
import type { OrgId } from '../lib/org-id.ts';
import { insertAudit } from '../orgs/audit.store.ts';
import type { Author, Caller } from '../http/caller.ts';
import { unknownOrganization } from '../orgs/organization.ts';
import { lockOrgAcrossOrgs, type OrgReference } from '../orgs/orgs.store.ts';
import { requireMatch } from '../orgs/record-version.ts';
import { lockRetention, readRetention, storeRetention, type RetentionRow } from './organization-retention.store.ts';
import {
  retentionKinds,
  type ChangeRetention,
  type OrganizationRetention,
  type RetentionChoice,
  type RetentionPeriods,
} from './retention.schema.ts';

/** The most rows that a step deletes at a time. */
export const retentionBatchMax = 5000;

/** Deletes one batch of expired rows of all organizations. `now` is slot time. Returns whether there may be more. */
export type RetentionStep = (tx: Tx, now: Date) => Promise<boolean>;

/** Runs the retention steps every hour, and again until no step has rows left to delete. */
export function retentionLoop(
  deps: { db: Db; clock: Clock; log: Logger },
  steps: readonly RetentionStep[],
  signal: AbortSignal,
): Promise<void> {
  return runLoop({ name: 'retention', idleMs: 3_600_000, signal, log: deps.log }, () => applyRetention(deps, steps));
}

/** Runs each step once, in its own transaction. Returns whether any step may have more rows to delete. */
export async function applyRetention(
  { db, clock }: { db: Db; clock: Clock },
  steps: readonly RetentionStep[],
): Promise<boolean> {
  const now = clock();
  let hasMore = false;
  for (const step of steps) if (await acrossOrgs(db, (tx) => step(tx, now))) hasMore = true;
  return hasMore;
}

/** `keep` has the periods of the service. */
export type RetentionDeps = { db: Db; keep: RetentionPeriods };

/** Returns how long data of an organization is kept, and why. */
export async function readOrganizationRetention(
  { db, keep }: RetentionDeps,
  orgId: OrgId,
): Promise<OrganizationRetention> {
  return toRetention(await inOrg(db, orgId, (tx) => readRetention(tx, orgId)), keep);
}

type RetentionChange = { changes: ChangeRetention; ifMatch?: string | undefined };

/**
 * Changes how long the organization keeps its data. Null: as long as the operator allows. Throws 400 for a period that is longer than that,
 * and 412 if `ifMatch` is not the current ETag.
 */
export async function chooseRetention(
  { db, keep }: RetentionDeps,
  caller: Caller,
  change: RetentionChange,
): Promise<OrganizationRetention> {
  return inOrg(db, caller.orgId, async (tx) => {
    await lockRetention(tx, caller.orgId);
    const { allowed } = toRetention(await readRetention(tx, caller.orgId), keep);
    for (const kind of retentionKinds) {
      const days = change.changes[kind];
      if (days !== undefined && days !== null && days > allowed[kind])
        throw fieldError(
          `/${kind}`,
          'out_of_range',
          `\`${kind}\`: the operator of this service allows ${allowed[kind]} days at most.`,
        );
    }
    return changePart(tx, caller, { ...change, part: 'own', keep });
  });
}

/**
 * Changes how long an organization may keep its data at most. Null: as long as the service keeps data. Data beyond a shorter maximum is deleted
 * within an hour. Throws 404 for an unknown organization, and 412 if `ifMatch` is not the current ETag.
 */
export function limitRetention(
  { db, keep }: RetentionDeps,
  reference: OrgReference,
  { operator, ...change }: RetentionChange & { operator: string },
): Promise<OrganizationRetention> {
  return acrossOrgs(db, async (tx) => {
    const org = await lockOrgAcrossOrgs(tx, reference);
    if (!org) throw unknownOrganization(reference);
    await lockRetention(tx, org.id);
    return changePart(tx, { orgId: org.id, keyId: null, subject: operator }, { ...change, part: 'maximum', keep });
  });
}

type PartChange = RetentionChange & { part: 'maximum' | 'own'; keep: RetentionPeriods };

async function changePart(
  tx: Tx,
  author: Author,
  { changes, ifMatch, part, keep }: PartChange,
): Promise<OrganizationRetention> {
  const { orgId } = author;
  const row = await readRetention(tx, orgId);
  const version = toVersion(row);
  const resource = { resourceType: 'organization', resourceId: orgId };
  await requireMatch(tx, ifMatch, version, { ...resource, orgId, action: 'organization.retention_' });
  const before = row[part];
  const after = mergeDays(before, changes);
  if (retentionKinds.every((kind) => before[kind] === after[kind])) return toRetention(row, keep);
  await storeRetention(tx, orgId, { part, days: after });
  const action = part === 'own' ? 'organization.retention_changed' : 'organization.retention_limited';
  const stored = await readRetention(tx, orgId);
  const states = { before: { ...before, ...version }, after: { ...after, ...toVersion(stored) } };
  await insertAudit(tx, author, { action, ...resource, ...states });
  return toRetention(stored, keep);
}

const mergeDays = (before: RetentionChoice, changes: ChangeRetention): RetentionChoice =>
  Object.fromEntries(
    retentionKinds.map((kind) => [kind, changes[kind] === undefined ? before[kind] : changes[kind]]),
  ) as RetentionChoice;

const toVersion = ({ updatedAt }: Pick<RetentionRow, 'updatedAt'>) => ({ updatedAt: updatedAt?.toISOString() ?? null });

function toRetention({ maximum, own, ...row }: RetentionRow, keep: RetentionPeriods): OrganizationRetention {
  const allowed = { ...keep };
  for (const kind of retentionKinds) allowed[kind] = maximum[kind] ?? keep[kind];
  const effective = { ...allowed };
  for (const kind of retentionKinds) effective[kind] = Math.min(own[kind] ?? allowed[kind], allowed[kind]);
  return { ...effective, allowed, own, ...toVersion(row) };
}
