import { sql } from 'kysely';
import { acrossOrgs, inOrg, queryRow, queryRows, type Db, type Tx } from '../../platform/db/db.ts';
import { isNotSuspended } from '../../platform/orgs/orgs.store.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import type { PageCursor } from '../../platform/lib/page-request.ts';
import type { SourceKey, SourceRow } from '../ingestion/source-row.ts';
import { storedItemColumns, type StoredItem } from '../ingestion/stored-items.store.ts';
import { tlps, type Tlp } from '../model/vocabulary.ts';

// Much longer than `keepClaim` takes to renew it, and short enough to wait for after a crash.
const leaseEnd = sql`clock_timestamp() + interval '30 seconds'`;
const columnNames = `organization_id, id, visibility, assigned_to, pool_id, kind, name, url, file_allowed, publisher, tlp, license,
  reliability, schedule, enabled, include, exclude, etag, last_modified, cursor, next_pull_at, worker, failures, last_pull_at, last_success_at,
  last_new_at, last_error, last_result, sealed_auth, sightings, sightings_error, created_at, updated_at`;
const columns = sql.raw(columnNames);
// Lists omit the rest of the cursor, which can cover thousands of documents.
const listColumns = sql.raw(
  columnNames.replace(
    ' cursor,',
    " json_strip_nulls(json_build_object('silentSince', cursor::json->'silentSince'))::text as cursor,",
  ),
);

/** Row-level security enforces the same condition. */
const isVisibleSource = sql`(organization_id = tocsin_org() or (visibility = 'shared' and (assigned_to is null or tocsin_org() = any(assigned_to))))`;

/**
 * Runs a transaction that may write a source's items. For a private source it belongs to the source's organization, so that row-level security
 * applies. The pools of a shared source belong to several organizations.
 */
export function withSourceAcrossOrgs<T>(
  db: Db,
  source: Pick<SourceRow, 'visibility' | 'organization_id'>,
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  return source.visibility === 'private' ? inOrg(db, source.organization_id, work) : acrossOrgs(db, work);
}

/** Returns the organization's own and visible shared sources, newest first, one more than `limit`. */
export function listSourceRows(tx: Tx, limit: number, after: PageCursor | null): Promise<SourceRow[]> {
  return queryRows<SourceRow>(tx)`
      select ${listColumns} from feed_sources
      where deleted_at is null and ${isVisibleSource} ${after ? sql`and (created_at, id) < (${after.at}, ${after.id}::uuid)` : sql``}
      order by created_at desc, id desc limit ${limit + 1}`;
}

/** Returns a source if the transaction's organization sees it. */
export function findSource(tx: Tx, id: string): Promise<SourceRow | undefined> {
  const query = sql<SourceRow>`select ${columns} from feed_sources where id = ${id} and deleted_at is null and ${isVisibleSource}`;
  return queryRow(tx, query);
}

/** Returns a source by its key, independent of the transaction's organization. */
export async function readSource(tx: Tx, source: SourceKey): Promise<SourceRow> {
  return (await queryRow<SourceRow>(tx)`select ${columns} from feed_sources where ${hasKey(source)}`)!;
}

const hasKey = ({ organization_id, id }: SourceKey) => sql`organization_id = ${organization_id} and id = ${id}`;

/** Locks the row until the transaction ends. */
export function lockSource(tx: Tx, source: SourceKey): Promise<SourceRow | undefined> {
  const query = sql<SourceRow>`select ${columns} from feed_sources where ${hasKey(source)} and deleted_at is null for no key update`;
  return queryRow(tx, query);
}

export async function lockSourceById(tx: Tx, id: string): Promise<void> {
  await sql`select from feed_sources where id = ${id} for no key update`.execute(tx);
}

/** Makes the next pull read all records again, even if the source has not changed. */
export async function requestReread(tx: Tx, id: string): Promise<void> {
  await sql`
    update feed_sources set etag = null, last_modified = null, cursor = (cursor::jsonb - 'reading')::text
      where id = ${id}`.execute(tx);
}

export async function countSources(tx: Tx, orgId: OrgId): Promise<number> {
  const query = sql<{ n: number }>`
    select count(*) as n from feed_sources where deleted_at is null and organization_id = ${orgId}`;
  return (await queryRow(tx, query))!.n;
}

type PullResultColumn = 'etag' | 'cursor' | 'failures' | (`last_${string}` & keyof SourceRow);

export type NewSource = Omit<SourceRow, PullResultColumn | 'sightings_error' | 'worker' | 'updated_at'>;

export async function insertSource(tx: Tx, source: NewSource): Promise<void> {
  await sql`
    insert into feed_sources (organization_id, id, visibility, assigned_to, pool_id, kind, name, url, file_allowed, publisher, tlp, license,
      reliability, schedule, enabled, include, exclude, next_pull_at, sealed_auth, sightings, created_at, updated_at)
    values (${source.organization_id}, ${source.id}, ${source.visibility}, ${source.assigned_to}::uuid[], ${source.pool_id}, ${source.kind},
      ${source.name}, ${source.url}, ${source.file_allowed}, ${source.publisher}, ${source.tlp}, ${source.license}, ${source.reliability},
      ${source.schedule}, ${source.enabled}, ${source.include}, ${source.exclude}, ${source.next_pull_at}, ${source.sealed_auth}, ${source.sightings}, ${source.created_at},
      ${source.created_at})`.execute(tx);
}

/** Writes the fields that a PUT may change. Removes the HTTP validators, so that the next pull applies the new settings. */
export async function updateSourceRow(tx: Tx, source: SourceRow): Promise<void> {
  await sql`
    update feed_sources set name = ${source.name}, url = ${source.url}, file_allowed = ${source.file_allowed},
      publisher = ${source.publisher}, tlp = ${source.tlp}, license = ${source.license}, reliability = ${source.reliability},
      schedule = ${source.schedule}, enabled = ${source.enabled}, include = ${source.include}, exclude = ${source.exclude},
      assigned_to = ${source.assigned_to}::uuid[], sealed_auth = ${source.sealed_auth}, sightings = ${source.sightings},
      sightings_error = case when ${source.sightings}::text is not null then sightings_error end, cursor = ${source.cursor}, next_pull_at = ${source.next_pull_at}, etag = null,
      last_modified = null, updated_at = ${source.updated_at}
    where ${hasKey(source)}`.execute(tx);
}

/** Stores why sightings could not be sent to a source, or null if they could. */
export async function storeSightingsError(tx: Tx, source: SourceKey, error: string | null): Promise<void> {
  await sql`
    update feed_sources set sightings_error = ${error}
      where ${hasKey(source)} and sightings_error is distinct from ${error}`.execute(tx);
}

export async function markSourceDeleted(tx: Tx, source: SourceKey, now: Date): Promise<void> {
  await sql`
    update feed_sources set deleted_at = ${now}, enabled = false, next_pull_at = null
      where ${hasKey(source)}`.execute(tx);
}

const pullsPerOrgMax = 2;

/**
 * Claims a source that is due and has no lease: the one that has been due longest, of the organization with the fewest pulls in progress and at
 * most two. Leases use the database's clock.
 */
export function claimDueSourceAcrossOrgs(db: Db, now: Date, worker: string): Promise<SourceRow | undefined> {
  return acrossOrgs(
    db,
    (tx) =>
      queryRow<SourceRow>(tx)`
        with pulling as (
          select organization_id, count(*) as n from feed_sources where lease_until > clock_timestamp() group by organization_id)
        update feed_sources set worker = ${worker}, lease_until = ${leaseEnd}
        where id = (select s.id from feed_sources s left join pulling p on p.organization_id = s.organization_id
          where s.enabled and s.deleted_at is null and s.next_pull_at <= ${now} and (s.lease_until is null or s.lease_until < clock_timestamp())
            and coalesce(p.n, 0) < ${pullsPerOrgMax} and ${isNotSuspended(sql`s.organization_id`)}
          order by coalesce(p.n, 0), s.next_pull_at limit 1 for no key update of s skip locked)
        returning ${columns}`,
  );
}

/** Claims a source for an immediate pull, unless it has a lease. */
export function claimSource(tx: Tx, source: SourceKey, worker: string): Promise<SourceRow | undefined> {
  return queryRow<SourceRow>(tx)`
      update feed_sources set worker = ${worker}, lease_until = ${leaseEnd}
      where ${hasKey(source)} and deleted_at is null and (lease_until is null or lease_until < clock_timestamp()) returning ${columns}`;
}

/**
 * Renews the worker's lease and returns the source, locked. Returns undefined if another worker has claimed the source or it was deleted. A lease
 * that has ended is renewed as well, because nobody else has claimed the source.
 */
export function renewClaim(tx: Tx, source: SourceKey, worker: string): Promise<SourceRow | undefined> {
  return queryRow<SourceRow>(tx)`
      update feed_sources set lease_until = ${leaseEnd}
      where ${hasKey(source)} and worker = ${worker} and deleted_at is null returning ${columns}`;
}

/** Like `renewClaim`, without reading the source. */
export async function renewLease(tx: Tx, source: SourceKey, worker: string): Promise<void> {
  await sql`
    update feed_sources set lease_until = ${leaseEnd} where ${hasKey(source)} and worker = ${worker}`.execute(tx);
}

/** The columns of a source that a pull changes. */
export type PullEnd = SourceKey & Pick<SourceRow, PullResultColumn | 'next_pull_at'>;

/** Ends a pull and releases the source. */
export async function finishPull(tx: Tx, worker: string, end: PullEnd): Promise<void> {
  await sql`
    update feed_sources set worker = null, lease_until = null, cursor = ${end.cursor}, etag = ${end.etag}, last_modified = ${end.last_modified},
      next_pull_at = ${end.next_pull_at}, failures = ${end.failures}, last_pull_at = ${end.last_pull_at},
      last_success_at = ${end.last_success_at}, last_new_at = ${end.last_new_at}, last_error = ${end.last_error}, last_result = ${end.last_result}
    where ${hasKey(end)} and worker = ${worker}`.execute(tx);
}

/** Releases the source of an interrupted pull without changing anything else. */
export async function releaseSource(tx: Tx, source: SourceKey, worker: string): Promise<void> {
  await sql`
    update feed_sources set worker = null, lease_until = null
      where ${hasKey(source)} and worker = ${worker}`.execute(tx);
}

export type LooselyMarkedItem = StoredItem & { is_latest: boolean; held_back_doc: string | null };

/** Returns items of a source with a looser marking than `tlp`, in the order of their ids, after an id. Skips items that are already erased. */
export function listLooselyMarkedItems(
  tx: Tx,
  source: SourceRow,
  { tlp, afterId, limit }: { tlp: Tlp; afterId: string; limit: number },
): Promise<LooselyMarkedItem[]> {
  const looserTlps = tlps.slice(0, tlps.indexOf(tlp));
  return queryRows<LooselyMarkedItem>(tx)`
      select ${storedItemColumns}, i.held_back as held_back_doc,
        not exists (select from items n where n.source_id = i.source_id and n.record_id = i.record_id and n.generation > i.generation) as is_latest
      from items i join item_versions v on v.item_id = i.id and v.version = i.version
      where i.organization_id = ${source.organization_id} and i.source_id = ${source.id} and i.id > ${afterId}
        and i.doc::json #>> '{source,tlp}' = any(${looserTlps}::text[]) and not (i.status = 'retracted' and v.cause = 'moved')
      order by i.id limit ${limit}`;
}

/** Returns the retracted items that continue these erased items. */
export function listSuccessors(tx: Tx, ids: string[]): Promise<{ follows: string; doc: string }[]> {
  return queryRows<{ follows: string; doc: string }>(tx)`
      select old.id as follows, n.doc from items old join items n on n.source_id = old.source_id and n.record_id = old.record_id
        and n.generation = old.generation + 1 and n.related @> array[old.id]
      where old.id = any(${ids}::uuid[]) and n.status = 'retracted'`;
}
