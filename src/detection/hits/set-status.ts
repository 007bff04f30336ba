import { inOrg, type Db, type Tx } from '../../platform/db/db.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import { appError, staleError, type RecordChange } from '../../platform/lib/errors.ts';
import { insertAudit } from '../../platform/orgs/audit.store.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { emitHitEvents, emitGroupEvent } from './hit-events.ts';
import { getHit, toHitGroup } from './read-hits.ts';
import type { HitDetail, HitVerdict, HitStatus, HitGroupChange } from './hits.schema.ts';
import {
  listStatusChanges,
  lockHit,
  storeStatus,
  lockBatchHits,
  lockGroupHits,
  lockHitsWithValues,
  storeStatuses,
  type LockedHit,
  listRevisions,
  type RevisionRow,
} from './hit-status.store.ts';
import { uuidv7 } from '../../platform/lib/ids.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { findGroup, type HitGroupRow } from './groups.store.ts';

export type SetHitStatusDeps = { db: Db; clock: Clock };

/**
 * Sets the status of a hit as an analyst judged it. Does nothing if neither the status nor the reason changes. Throws 409 if the hit changed since
 * `expectedRevision`.
 */
export async function setHitStatus(
  deps: SetHitStatusDeps,
  caller: Caller,
  id: string,
  { status, ...input }: HitVerdict,
): Promise<HitDetail> {
  const now = deps.clock();
  const reason = input.reason ?? null;
  await inOrg(deps.db, caller.orgId, async (tx) => {
    const hit = await lockHit(tx, caller.orgId, id);
    if (!hit) throw appError('not_found', `Hit ${id} not found.`);
    if (hit.status === status) {
      const [latest] = await listStatusChanges(tx, caller.orgId, id, 1);
      if (reason === null || latest?.reason === reason) return;
    }
    await checkHitRevision(tx, caller.orgId, hit, input.expectedRevision);
    await storeStatus(tx, caller.orgId, hit, { to: status, reason, author: caller, now });
    await emitHitEvents(tx, caller.orgId, [id]);
    await insertAudit(tx, caller, {
      action: 'hit.status_changed',
      resourceType: 'hit',
      resourceId: id,
      before: { status: hit.status },
      // The reason is only in the history of the hit, where it can be erased.
      after: { status },
    });
  });
  return getHit(deps, caller, id);
}

/**
 * Records in the history of hits whose rows have one of the values that what they rest on was withdrawn. Open ones become `outdated`. Those that
 * people have judged keep their status.
 */
export async function withdrawHits(
  tx: Tx,
  orgId: OrgId,
  { values, reason, now }: { values: readonly string[]; reason: string; now: Date },
): Promise<void> {
  const hits = values.length === 0 ? [] : await lockHitsWithValues(tx, orgId, values);
  const author = { orgId, keyId: null };
  for (const ofDetection of Map.groupBy(hits, ({ detectionId }) => detectionId).values())
    for (const [status, ofStatus] of Map.groupBy(ofDetection, (hit) => hit.status)) {
      const to = status === 'open' ? 'outdated' : status;
      await storeStatuses(tx, orgId, ofStatus, { to, reason, author, now });
    }
  await emitHitEvents(
    tx,
    orgId,
    hits.map(({ id }) => id),
  );
}

type GroupStatusDeps = { db: Db; clock: Clock };

/** Sets the status of every hit of a group, and records it in the history of each. Hits that have the status already do not change. Throws 409 if one changed since `expectedRevision`. */
export function setGroupStatus(
  { db, clock }: GroupStatusDeps,
  caller: Caller,
  id: string,
  { status, ...input }: HitVerdict,
): Promise<HitGroupChange> {
  const { orgId } = caller;
  return inOrg(db, orgId, async (tx) => {
    const before = await getGroup(tx, orgId, id);
    const all = await lockGroupHits(tx, orgId, id);
    await checkGroupRevision(tx, orgId, all, input.expectedRevision);
    const hits = all.filter((hit) => hit.status !== status);
    const changes = hits.map((hit) => ({ hit, to: status }));
    // The reason is only in the history of the hits, where it can be erased.
    const audit = { before: { statuses: before.statuses }, after: { status, changed: hits.length } };
    const change = await storeChanges(tx, caller, { id, changes, reason: input.reason ?? null, audit, now: clock() });
    return { ...toHitGroup(await getGroup(tx, orgId, id)), change };
  });
}

/**
 * Gives hits of a group the status that they had before a change of the group. Hits that changed again since then keep theirs. The undoing is a
 * change that can be undone as well.
 */
export function undoGroupStatus(
  { db, clock }: GroupStatusDeps,
  caller: Caller,
  id: string,
  batchId: string,
): Promise<HitGroupChange> {
  const { orgId } = caller;
  return inOrg(db, orgId, async (tx) => {
    const before = await getGroup(tx, orgId, id);
    const hits = await lockBatchHits(tx, orgId, { groupId: id, batchId });
    if (!hits) throw appError('not_found', `Change ${batchId} of hit group ${id} not found.`);
    const changes = hits.map(({ former, ...hit }) => ({ hit, to: former }));
    const audit = { before: { statuses: before.statuses }, after: { undone: batchId, changed: hits.length } };
    const change = await storeChanges(tx, caller, { id, changes, reason: null, audit, now: clock() });
    return { ...toHitGroup(await getGroup(tx, orgId, id)), change };
  });
}

async function getGroup(tx: Tx, orgId: OrgId, id: string): Promise<HitGroupRow> {
  const group = await findGroup(tx, orgId, id);
  if (!group) throw appError('not_found', `Hit group ${id} not found.`);
  return group;
}

type GroupChange = {
  id: string;
  changes: readonly { hit: LockedHit; to: HitStatus }[];
  reason: string | null;
  audit: { before: object; after: object };
  now: Date;
};

async function storeChanges(
  tx: Tx,
  caller: Caller,
  { id, changes, reason, audit, now }: GroupChange,
): Promise<HitGroupChange['change']> {
  if (changes.length === 0) return null;
  const { orgId } = caller;
  const batchId = uuidv7(now);
  for (const [to, list] of Map.groupBy(changes, (one) => one.to)) {
    const hits = list.map(({ hit }) => hit);
    await storeStatuses(tx, orgId, hits, { to, reason, author: caller, now, batchId });
  }
  await emitGroupEvent(tx, orgId, id);
  await insertAudit(tx, caller, {
    action: 'hit_group.status_changed',
    resourceType: 'hit_group',
    resourceId: id,
    ...audit,
  });
  return { id: batchId, hits: changes.length };
}

const pointer = '/expectedRevision';
const rowsMax = 200;

/** Throws 409 with what changed if the content or the status of a locked hit changed after `expected`. */
async function checkHitRevision(
  tx: Tx,
  orgId: OrgId,
  { id, revision, changedRevision }: LockedHit,
  expected: number | undefined,
): Promise<void> {
  if (expected === undefined || expected >= changedRevision) return;
  const rows = await listRevisions(tx, orgId, [id], rowsMax);
  const changes = rows.filter((row) => row.revision !== null && row.revision > expected).map(toChange);
  const detail = `The hit changed since revision ${expected}. \`stale\` lists what changed.`;
  throw staleError(pointer, detail, { current: revision, changes });
}

/** The revision of a group: any change of a hit raises it, and so does a hit that joins. */
const groupRevision = (hits: readonly LockedHit[]): number =>
  hits.reduce((sum, { changedRevision }) => sum + changedRevision, 0);

/** Throws 409 with what changed if a group of locked hits does not have the revision `expected`. */
async function checkGroupRevision(
  tx: Tx,
  orgId: OrgId,
  hits: readonly LockedHit[],
  expected: number | undefined,
): Promise<void> {
  const current = groupRevision(hits);
  if (expected === undefined || expected === current) return;
  const ids = hits.map(({ id }) => id);
  const rows = await listRevisions(tx, orgId, ids, rowsMax);
  let steps = 0;
  const since = rows.filter((row) => {
    const isLater = steps < current - expected;
    steps += row.steps;
    return isLater;
  });
  const detail = `Hits of the group changed since revision ${expected}. \`stale\` lists what changed.`;
  throw staleError(pointer, detail, { current, changes: since.map(toChange) });
}

function toChange({ at, keyId, actor, from, to, reason, entity }: RevisionRow): RecordChange {
  return {
    at: at.toISOString(),
    keyId,
    actor,
    action: 'hit.status_changed',
    subject: entity,
    fields: [
      { field: 'status', before: from, after: to },
      ...(reason === null ? [] : [{ field: 'reason', before: null, after: reason }]),
    ],
  };
}
