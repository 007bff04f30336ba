import { acrossOrgs, inOrg, type Db, type Tx } from '../../platform/db/db.ts';
import { appError } from '../../platform/lib/errors.ts';
import type { Caller } from '../../platform/orgs/caller.ts';
import type { SourceRow } from '../ingestion/source-row.ts';
import type { SnapshotCache } from '../items/snapshot/snapshot.ts';
import { findSource, lockSource } from './sources.store.ts';

export type SourceAccessDeps = { db: Db; snapshots: SnapshotCache };

/** Returns whether the caller is the command line, which may read any file and acts for the installation. */
export const isCommandLine = (caller: Caller): boolean => caller.keyId === null;

export function requireAdmin(caller: Caller): void {
  if (!caller.scopes.has('feed:admin')) throw appError('forbidden', 'The key lacks the scope `feed:admin`.');
}

/** Throws `not_found` if the source does not exist or the caller's organization does not see it. */
export async function getVisibleSource({ db }: { db: Db }, caller: Caller, id: string): Promise<SourceRow> {
  const source = await inOrg(db, caller.orgId, (tx) => findSource(tx, id));
  if (!source) throw appError('not_found', `Source ${id} not found`);
  return source;
}

/** Runs `work` on a locked source that the caller may change: one of its organization, or with `feed:admin` a shared one. */
export async function changeSource<T>(
  deps: SourceAccessDeps,
  caller: Caller,
  id: string,
  work: (tx: Tx, source: SourceRow) => Promise<T>,
): Promise<T> {
  const visible = await getVisibleSource(deps, caller, id);
  if (visible.visibility === 'shared') requireAdmin(caller);
  const lockAndWork = async (tx: Tx): Promise<T> => {
    const source = await lockSource(tx, visible);
    if (!source) throw appError('not_found', `Source ${id} not found`);
    return work(tx, source);
  };
  const result = await (visible.visibility === 'private'
    ? inOrg(deps.db, caller.orgId, lockAndWork)
    : acrossOrgs(deps.db, lockAndWork));
  deps.snapshots.invalidate();
  return result;
}
