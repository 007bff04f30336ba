import type { Tx } from '../../platform/db/db.ts';
import { staleError, type RecordChange } from '../../platform/lib/errors.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { listRevisions, type LockedHit, type RevisionRow } from './hit-status.store.ts';

const pointer = '/expectedRevision';
const rowsMax = 200;

/** Throws 409 with what changed if the content or the status of a locked hit changed after `expected`. */
export async function checkHitRevision(
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
export const groupRevision = (hits: readonly LockedHit[]): number =>
  hits.reduce((sum, { changedRevision }) => sum + changedRevision, 0);

/** Throws 409 with what changed if a group of locked hits does not have the revision `expected`. */
export async function checkGroupRevision(
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
