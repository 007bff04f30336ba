import { sql, type RawBuilder } from 'kysely';
import { queryRows, type Tx } from '../db/db.ts';
import { uuidv7 } from '../lib/ids.ts';
import type { OrgId } from '../lib/org-id.ts';
import type { PageCursor } from '../lib/page-request.ts';
import type { Author } from '../http/caller.ts';

/** One change. `before` and `after` are JSON values or null and must not contain secrets. */
export type AuditChange = { action: string; resourceType: string; resourceId: string; before: unknown; after: unknown };

export type AuditRow = {
  id: string;
  at: Date;
  key_id: string | null;
  actor: string | null;
  action: string;
  resource_type: string;
  resource_id: string;
  before: string | null;
  after: string | null;
  sequence: number;
  hash: Buffer;
};

/** Records a change and its author in the transaction of the change. */
export async function insertAudit(tx: Tx, author: Author, change: AuditChange): Promise<void> {
  await auditInsertSql(author, change).execute(tx);
}

type AuditedRecord = { id: string } | null;

/** Records a change of a record as clients see it. The part of `action` before the dot is the record's type. */
export async function auditRecord(
  tx: Tx,
  author: Author,
  action: `${string}.${string}`,
  { before, after }: { before: AuditedRecord; after: AuditedRecord },
): Promise<void> {
  const [resourceType = ''] = action.split('.');
  await insertAudit(tx, author, { action, resourceType, resourceId: (after ?? before)!.id, before, after });
}

/** Returns the statement of `insertAudit`, for use as the last part of a larger statement. Uses machine time, not slot time. */
export function auditInsertSql(author: Author, change: AuditChange): RawBuilder<unknown> {
  const at = new Date();
  return sql`
    insert into audit (organization_id, id, at, key_id, actor, action, resource_type, resource_id, before, after)
    values (${author.orgId}, ${uuidv7(at)}, ${at}, ${author.keyId}, ${author.subject ?? null}, ${change.action}, ${change.resourceType}, ${change.resourceId},
      ${toJson(change.before)}, ${toJson(change.after)})`;
}

const toJson = (value: unknown): string | null =>
  value === null || value === undefined ? null : JSON.stringify(value);

export type AuditFilter = {
  /** Default: the organization of the transaction. */
  orgId?: OrgId | undefined;
  /** The ID of a key, or the name of who signed in. */
  actor?: string | undefined;
  /** The beginning of the action. */
  action?: string | undefined;
  resourceType?: string | undefined;
  resourceId?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
};

export type AuditPage = { limit: number; after: PageCursor | null; isOldestFirst?: boolean };

/** Returns up to `limit` + 1 rows, newest first by default. The extra row shows that another page follows. */
export function listAuditRows(
  tx: Tx,
  { orgId, actor, action, resourceType, resourceId, from, to }: AuditFilter,
  { limit, after, isOldestFirst }: AuditPage,
): Promise<AuditRow[]> {
  const [beyond, order] = isOldestFirst ? [sql`>`, sql`at, id`] : [sql`<`, sql`at desc, id desc`];
  const conditions = [
    sql`organization_id = ${orgId ?? sql`tocsin_org()`}`,
    ...(after ? [sql`(at, id) ${beyond} (${after.at}, ${after.id}::uuid)`] : []),
    ...(actor ? [sql`(actor = ${actor} or key_id = ${actor})`] : []),
    ...(action ? [sql`starts_with(action, ${action})`] : []),
    ...(resourceType ? [sql`resource_type = ${resourceType}`] : []),
    ...(resourceId ? [sql`resource_id = ${resourceId}`] : []),
    ...(from ? [sql`at >= ${from}`] : []),
    ...(to ? [sql`at < ${to}`] : []),
  ];
  return queryRows<AuditRow>(tx)`
      select id, at, key_id, actor, action, resource_type, resource_id, before, after, sequence, hash from audit
      where ${sql.join(conditions, sql` and `)}
      order by ${order} limit ${limit + 1}`;
}
