import { inOrg, type Db, type Tx } from '../../platform/db/db.ts';
import { appError } from '../../platform/lib/errors.ts';
import { insertAudit } from '../../platform/orgs/audit.store.ts';
import type { Caller } from '../../platform/http/caller.ts';
import type { SourceRow, PullCursor } from '../ingestion/source-row.ts';
import type { SnapshotCache } from '../items/snapshot/snapshot.ts';
import type { Source, SourceList, SourceSightings } from './sources.schema.ts';
import { findSource, lockSource, withSourceAcrossOrgs, listSourceRows } from './sources.store.ts';
import { redactFileUrl } from '../ingestion/item-document.ts';
import { effectiveSchedule } from './source-settings.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import { readPageRequest, toPage, type PageQuery } from '../../platform/lib/page-request.ts';

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

/** Returns a source as the caller may see it. Only its owner sees which organizations it is assigned to and the full path of a local file. */
export function toSource(row: SourceRow, caller: Caller, now: Date): Source {
  const isOwner = row.organization_id === caller.orgId;
  const toText = (time: Date | null): string | null => time?.toISOString() ?? null;
  const lagMs = row.last_success_at && Math.max(0, now.getTime() - row.last_success_at.getTime());
  return {
    id: row.id,
    kind: row.kind,
    name: row.name,
    url: isOwner ? row.url : redactFileUrl(row.url),
    publisher: row.publisher,
    tlp: row.tlp,
    license: row.license,
    reliability: row.reliability,
    schedule: effectiveSchedule(row),
    enabled: row.enabled,
    include: JSON.parse(row.include) as string[],
    exclude: JSON.parse(row.exclude) as string[],
    visibility: row.visibility,
    ...(isOwner
      ? {
          assignedTo: row.assigned_to,
          hasAuth: row.sealed_auth !== null,
          sightings: row.sightings === null ? null : (JSON.parse(row.sightings) as SourceSightings),
          sightingsError: row.sightings_error,
        }
      : {}),
    own: isOwner,
    nextPullAt: toText(row.next_pull_at),
    lastPullAt: toText(row.last_pull_at),
    lastSuccessAt: toText(row.last_success_at),
    lastNewAt: toText(row.last_new_at),
    lagSeconds: lagMs === null ? null : Math.floor(lagMs / 1000),
    silentSince: (JSON.parse(row.cursor) as PullCursor).silentSince ?? null,
    lastError: row.last_error,
    failures: row.failures,
    lastResult: row.last_result === null ? null : (JSON.parse(row.last_result) as Source['lastResult']),
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}

type ListSourcesDeps = { db: Db; clock: Clock };

/** Returns a page of the organization's own sources and the shared sources that it sees, newest first. */
export async function listSources(deps: ListSourcesDeps, caller: Caller, query: PageQuery): Promise<SourceList> {
  const { limit, after } = readPageRequest(query);
  const rows = await inOrg(deps.db, caller.orgId, (tx) => listSourceRows(tx, limit, after));
  const { page, nextCursor } = toPage(rows, limit, (source) => ({ at: source.created_at, id: source.id }));
  return { sources: page.map((source) => toSource(source, caller, deps.clock())), nextCursor };
}

/** Throws `not_found` if the source does not exist or the organization does not see it. */
export async function getSource(deps: ListSourcesDeps, caller: Caller, id: string): Promise<Source> {
  return toSource(await getVisibleSource(deps, caller, id), caller, deps.clock());
}
