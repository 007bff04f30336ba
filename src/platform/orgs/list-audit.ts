import { inOrg, type Db } from '../db/db.ts';
import { readPageRequest, toPage } from '../lib/page-request.ts';
import { listAuditRows } from './audit.store.ts';
import type { Caller } from './caller.ts';
import { toAuditEntry } from './audit/audit-entry.ts';
import type { AuditList, AuditQuery } from './orgs.schema.ts';

export async function listAuditEntries({ db }: { db: Db }, caller: Caller, query: AuditQuery): Promise<AuditList> {
  const { limit, after } = readPageRequest(query);
  const rows = await inOrg(db, caller.orgId, (tx) => listAuditRows(tx, query, { limit, after }));
  const { page, nextCursor } = toPage(rows, limit, (row) => row);
  return { entries: page.map(toAuditEntry), nextCursor };
}
