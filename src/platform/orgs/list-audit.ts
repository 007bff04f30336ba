import { inOrg, type Db } from '../db/db.ts';
import { readPageRequest, toPage } from '../lib/page-request.ts';
import { listAuditRows } from './audit.store.ts';
import type { Caller } from './caller.ts';
import type { AuditList, AuditQuery } from './orgs.schema.ts';

export async function listAuditEntries({ db }: { db: Db }, caller: Caller, query: AuditQuery): Promise<AuditList> {
  const { limit, after } = readPageRequest(query);
  const rows = await inOrg(db, caller.orgId, (tx) => listAuditRows(tx, query, { limit, after }));
  const { page, nextCursor } = toPage(rows, limit, (row) => row);
  const entries = page.map((row) => ({
    id: row.id,
    at: row.at.toISOString(),
    keyId: row.key_id,
    actor: row.actor,
    action: row.action,
    resourceType: row.resource_type,
    resourceId: row.resource_id,
    before: row.before === null ? null : JSON.parse(row.before),
    after: row.after === null ? null : JSON.parse(row.after),
  }));
  return { entries, nextCursor };
}
