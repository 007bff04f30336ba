import { inOrg, type Db, type Tx } from '../../platform/db/db.ts';
import { appError } from '../../platform/lib/errors.ts';
import { insertAudit } from '../../platform/orgs/audit.store.ts';
import type { Caller } from '../../platform/http/caller.ts';
import type { SourceRow } from '../ingestion/source-row.ts';
import type { SnapshotCache } from '../items/snapshot/snapshot.ts';
import type { Source } from './sources.schema.ts';
import { findSource, lockSource, withSourceAcrossOrgs } from './sources.store.ts';

export function requireAdmin(caller: Caller): void {
  if (!caller.scopes.has('feed:admin')) throw appError('forbidden', 'The key lacks the scope `feed:admin`.');
}

/** Records a change of a source. At least one of `before` and `after` is set. */
export async function auditSource(
  tx: Tx,
  caller: Caller,
  { action, before, after }: { action: string; before: Source | null; after: Source | null },
): Promise<void> {
  const resourceId = (after ?? before)!.id;
  await insertAudit(tx, caller, { action, resourceType: 'source', resourceId, before, after });
}

/** Throws `not_found` if the source does not exist or the caller's organization does not see it. */
export async function getVisibleSource({ db }: { db: Db }, caller: Caller, id: string): Promise<SourceRow> {
  const source = await inOrg(db, caller.orgId, (tx) => findSource(tx, id));
  if (!source) throw appError('not_found', `Source ${id} not found`);
  return source;
}

/** Runs `work` on a locked source that the caller may change: one of its organization, or with `feed:admin` a shared one. */
export async function changeSource<T>(
  deps: { db: Db; snapshots: Pick<SnapshotCache, 'invalidate'> },
  caller: Caller,
  id: string,
  work: (tx: Tx, source: SourceRow) => Promise<T>,
): Promise<T> {
  const visible = await getVisibleSource(deps, caller, id);
  if (visible.visibility === 'shared') requireAdmin(caller);
  const result = await withSourceAcrossOrgs(deps.db, visible, async (tx) => {
    const source = await lockSource(tx, visible);
    if (!source) throw appError('not_found', `Source ${id} not found`);
    return work(tx, source);
  });
  deps.snapshots.invalidate();
  return result;
}
