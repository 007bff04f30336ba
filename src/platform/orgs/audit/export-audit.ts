import { inOrg, type Db } from '../../db/db.ts';
import type { PageCursor } from '../../lib/page-request.ts';
import { listAuditRows, type AuditPage, type AuditRow } from '../audit.store.ts';
import type { Caller } from '../caller.ts';
import type { AuditFilter } from '../orgs.schema.ts';
import { toAuditEntry } from './audit-entry.ts';

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
