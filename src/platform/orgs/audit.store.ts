import { sql, type RawBuilder } from 'kysely';
import { rows, type Tx } from '../db/db.ts';
import { uuidv7 } from '../lib/ids.ts';
import type { Mark } from '../lib/page-request.ts';
import type { Caller } from './caller.ts';

/** One change: `before` and `after` are JSON values, null where there is none. Secrets are not to be passed in. */
export type Change = { action: string; resourceType: string; resourceId: string; before: unknown; after: unknown };

export type AuditRow = {
  id: string;
  at: Date;
  key_id: string | null;
  action: string;
  resource_type: string;
  resource_id: string;
  before: string | null;
  after: string | null;
};

type Author = Pick<Caller, 'orgId' | 'keyId'>;

/** Writes who changed what, in the transaction of the change itself. */
export async function insertAudit(tx: Tx, author: Author, change: Change): Promise<void> {
  await auditInsert(author, change).execute(tx);
}

/** The same as the last part of a larger statement. Machine time: an audit is about when it really was. */
export function auditInsert(author: Author, change: Change): RawBuilder<unknown> {
  const at = new Date();
  return sql`
    insert into audit (organization_id, id, at, key_id, action, resource_type, resource_id, before, after)
    values (${author.orgId}, ${uuidv7(at)}, ${at}, ${author.keyId}, ${change.action}, ${change.resourceType}, ${change.resourceId},
      ${json(change.before)}, ${json(change.after)})`;
}

const json = (value: unknown): string | null => (value === null || value === undefined ? null : JSON.stringify(value));

/** Newest first, `limit` + 1 rows so that the caller sees whether more follow. */
export function listAudit(tx: Tx, limit: number, after: Mark | null): Promise<AuditRow[]> {
  return rows(
    tx,
    sql<AuditRow>`
      select id, at, key_id, action, resource_type, resource_id, before, after from audit
      where organization_id = tocsin_org() ${after ? sql`and (at, id) < (${after.at}, ${after.id}::uuid)` : sql``}
      order by at desc, id desc limit ${limit + 1}`,
  );
}
