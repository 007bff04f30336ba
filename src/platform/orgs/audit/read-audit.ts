import { inOrg, type Db } from '../../db/db.ts';
import { readPageRequest, toPage, type PageCursor } from '../../lib/page-request.ts';
import { listAuditRows, type AuditPage, type AuditRow } from '../audit.store.ts';
import type { Caller } from '../../http/caller.ts';
import type { AuditList, AuditQuery, AuditFilter, AuditEntry } from '../orgs.schema.ts';

export async function listAuditEntries({ db }: { db: Db }, caller: Caller, query: AuditQuery): Promise<AuditList> {
  const { limit, after } = readPageRequest(query);
  const rows = await inOrg(db, caller.orgId, (tx) => listAuditRows(tx, query, { limit, after }));
  const { page, nextCursor } = toPage(rows, limit, (row) => row);
  return { entries: page.map(toAuditEntry), nextCursor };
}

const pageRows = 500;

/**
 * Yields the matching entries as lines of JSON, oldest first, in pages of 500 that are read as the client receives them. Entries made
 * after the export began are left out, so that it ends.
 */
export async function* exportAudit(db: Db, caller: Caller, filter: AuditFilter): AsyncGenerator<string> {
  const now = new Date().toISOString();
  const to = filter.to !== undefined && new Date(filter.to) < new Date(now) ? filter.to : now;
  let after: PageCursor | null = null;
  do {
    const page: AuditPage = { limit: pageRows, after, isOldestFirst: true };
    const rows: AuditRow[] = await inOrg(db, caller.orgId, (tx) => listAuditRows(tx, { ...filter, to }, page));
    const lines = rows.slice(0, pageRows);
    if (lines.length > 0) yield lines.map((row) => `${JSON.stringify(toAuditEntry(row))}\n`).join('');
    after = rows.length > pageRows ? lines.at(-1)! : null;
  } while (after);
}

/** Returns an audit entry as clients see it. */
const toAuditEntry = (row: AuditRow): AuditEntry => ({
  id: row.id,
  at: row.at.toISOString(),
  keyId: row.key_id,
  actor: row.actor,
  action: row.action,
  resourceType: row.resource_type,
  resourceId: row.resource_id,
  before: row.before === null ? null : JSON.parse(row.before),
  after: row.after === null ? null : JSON.parse(row.after),
  sequence: row.sequence,
  hash: row.hash.toString('hex'),
});
