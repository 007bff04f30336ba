import { sql } from 'kysely';
import { acrossOrgs, row, rows, type Db, type Tx } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import type { Mark } from '../../platform/lib/page-request.ts';
import type { SourceRow } from './source-row.ts';

const lease = "interval '10 minutes'";
const columnNames = `organization_id, id, visibility, assigned_to, pool_id, kind, name, url, file_allowed, publisher, tlp, license,
  reliability, schedule, enabled, include, exclude, etag, last_modified, cursor, next_pull_at, worker, failures, last_pull_at, last_success_at,
  last_new_at, last_error, last_result, sealed_auth, created_at, updated_at`;
const columns = sql.raw(columnNames);
// What a source remembers of thousands of documents is of no use to a list.
const listColumns = sql.raw(columnNames.replace(' cursor,', " '{}' as cursor,"));

type SourceId = Pick<SourceRow, 'id' | 'organization_id'>;

/** Row-level security says the same once more. */
const isSeen = sql`(organization_id = tocsin_org() or (visibility = 'shared' and (assigned_to is null or tocsin_org() = any(assigned_to))))`;

/** Sources that the organization sees: its own and the shared ones. Newest first, one more than `limit`. */
export function listSourceRows(tx: Tx, limit: number, after: Mark | null): Promise<SourceRow[]> {
  return rows(
    tx,
    sql<SourceRow>`
      select ${listColumns} from feed_sources
      where deleted_at is null and ${isSeen} ${after ? sql`and (created_at, id) < (${after.at}, ${after.id}::uuid)` : sql``}
      order by created_at desc, id desc limit ${limit + 1}`,
  );
}

/** A source that the transaction's organization sees. */
export function findSource(tx: Tx, id: string): Promise<SourceRow | undefined> {
  return row(
    tx,
    sql<SourceRow>`select ${columns} from feed_sources where id = ${id} and deleted_at is null and ${isSeen}`,
  );
}

/** A source of its owner, whoever asks. */
export async function readSource(tx: Tx, source: SourceId): Promise<SourceRow> {
  return (await row(tx, sql<SourceRow>`select ${columns} from feed_sources where ${isIt(source)}`))!;
}

const isIt = ({ organization_id, id }: SourceId) => sql`organization_id = ${organization_id} and id = ${id}`;

/** Holds the row until the transaction ends. */
export function lockSource(tx: Tx, source: SourceId): Promise<SourceRow | undefined> {
  return row(
    tx,
    sql<SourceRow>`select ${columns} from feed_sources where ${isIt(source)} and deleted_at is null for update`,
  );
}

export async function countSources(tx: Tx, orgId: OrgId): Promise<number> {
  const found = await row(
    tx,
    sql<{
      n: number;
    }>`select count(*) as n from feed_sources where deleted_at is null and organization_id = ${orgId}`,
  );
  return found?.n ?? 0;
}

export type NewSource = Pick<
  SourceRow,
  | 'organization_id'
  | 'id'
  | 'visibility'
  | 'assigned_to'
  | 'pool_id'
  | 'kind'
  | 'name'
  | 'url'
  | 'file_allowed'
  | 'publisher'
  | 'tlp'
  | 'license'
  | 'reliability'
  | 'schedule'
  | 'enabled'
  | 'include'
  | 'exclude'
  | 'next_pull_at'
  | 'sealed_auth'
  | 'created_at'
>;

export async function insertSource(tx: Tx, source: NewSource): Promise<void> {
  await sql`
    insert into feed_sources (organization_id, id, visibility, assigned_to, pool_id, kind, name, url, file_allowed, publisher, tlp, license,
      reliability, schedule, enabled, include, exclude, next_pull_at, sealed_auth, created_at, updated_at)
    values (${source.organization_id}, ${source.id}, ${source.visibility}, ${source.assigned_to}::uuid[], ${source.pool_id}, ${source.kind},
      ${source.name}, ${source.url}, ${source.file_allowed}, ${source.publisher}, ${source.tlp}, ${source.license}, ${source.reliability},
      ${source.schedule}, ${source.enabled}, ${source.include}, ${source.exclude}, ${source.next_pull_at}, ${source.sealed_auth}, ${source.created_at},
      ${source.created_at})`.execute(tx);
}

/** Writes what a PUT may change. The validators go, so that the next pull reads under the new settings. */
export async function updateSourceRow(tx: Tx, source: SourceRow): Promise<void> {
  await sql`
    update feed_sources set name = ${source.name}, url = ${source.url}, file_allowed = ${source.file_allowed},
      publisher = ${source.publisher}, tlp = ${source.tlp}, license = ${source.license}, reliability = ${source.reliability},
      schedule = ${source.schedule}, enabled = ${source.enabled}, include = ${source.include}, exclude = ${source.exclude},
      assigned_to = ${source.assigned_to}::uuid[], sealed_auth = ${source.sealed_auth}, cursor = ${source.cursor}, next_pull_at = ${source.next_pull_at}, etag = null,
      last_modified = null, updated_at = ${source.updated_at}
    where ${isIt(source)}`.execute(tx);
}

export async function markSourceDeleted(tx: Tx, source: SourceId, now: Date): Promise<void> {
  await sql`update feed_sources set deleted_at = ${now}, enabled = false, next_pull_at = null where ${isIt(source)}`.execute(
    tx,
  );
}

/** Takes the source whose slot has come longest ago and that nobody pulls; leases and back-off run on the database's clock. */
export function claimDueSourceAcrossOrgs(db: Db, now: Date, worker: string): Promise<SourceRow | undefined> {
  return acrossOrgs(db, (tx) =>
    row(
      tx,
      sql<SourceRow>`
        update feed_sources set worker = ${worker}, lease_until = clock_timestamp() + ${sql.raw(lease)}
        where id = (select id from feed_sources where enabled and deleted_at is null and next_pull_at <= ${now}
          and (lease_until is null or lease_until < clock_timestamp()) order by next_pull_at limit 1 for update skip locked)
        returning ${columns}`,
    ),
  );
}

/** Takes one source for a pull at once, unless it is being pulled. */
export function claimSource(tx: Tx, source: SourceId, worker: string): Promise<SourceRow | undefined> {
  return row(
    tx,
    sql<SourceRow>`
      update feed_sources set worker = ${worker}, lease_until = clock_timestamp() + ${sql.raw(lease)}
      where ${isIt(source)} and deleted_at is null and (lease_until is null or lease_until < clock_timestamp()) returning ${columns}`,
  );
}

/** The source while this worker still has it, locked; undefined after the lease went to another. */
export function lockClaim(tx: Tx, source: SourceId, worker: string): Promise<SourceRow | undefined> {
  return row(
    tx,
    sql<SourceRow>`
      select ${columns} from feed_sources
      where ${isIt(source)} and worker = ${worker} and lease_until > clock_timestamp() and deleted_at is null for update`,
  );
}

export type PullEnd = Pick<
  SourceRow,
  | 'id'
  | 'organization_id'
  | 'cursor'
  | 'etag'
  | 'last_modified'
  | 'next_pull_at'
  | 'failures'
  | 'last_pull_at'
  | 'last_success_at'
  | 'last_new_at'
  | 'last_error'
  | 'last_result'
>;

/** Ends a pull and gives the source back. */
export async function finishPull(tx: Tx, worker: string, end: PullEnd): Promise<void> {
  await sql`
    update feed_sources set worker = null, lease_until = null, cursor = ${end.cursor}, etag = ${end.etag}, last_modified = ${end.last_modified},
      next_pull_at = ${end.next_pull_at}, failures = ${end.failures}, last_pull_at = ${end.last_pull_at},
      last_success_at = ${end.last_success_at}, last_new_at = ${end.last_new_at}, last_error = ${end.last_error}, last_result = ${end.last_result}
    where ${isIt(end)} and worker = ${worker}`.execute(tx);
}

/** Gives a source back as it was, when a pull was interrupted and not when it failed. */
export async function releaseSource(tx: Tx, source: SourceId, worker: string): Promise<void> {
  await sql`update feed_sources set worker = null, lease_until = null where ${isIt(source)} and worker = ${worker}`.execute(
    tx,
  );
}
