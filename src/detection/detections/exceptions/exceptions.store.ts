import { sql } from 'kysely';
import type { Exception } from '../../analysis/exceptions.ts';
import { row, rows, type Tx } from '../../../platform/db/db.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import type { PageRequest } from '../../../platform/lib/page-request.ts';

export type ExceptionRow = Exception & {
  reason: string;
  keyId: string | null;
  createdAt: Date;
  expiresAt: Date | null;
};

type Ref = { orgId: OrgId; detectionId: string };

const columns = sql`id, kind, entity, field, value, reason, key_id as "keyId", created_at as "createdAt", expires_at as "expiresAt"`;
const mine = ({ orgId, detectionId }: Ref) => sql`organization_id = ${orgId} and detection_id = ${detectionId}`;

/** Those that stand at `now`, the oldest first. */
export function listStanding(tx: Tx, ref: Ref, now: Date): Promise<Exception[]> {
  return rows(
    tx,
    sql<Exception>`select id, kind, entity, field, value from exceptions
      where ${mine(ref)} and (expires_at is null or expires_at > ${now}) order by created_at, id`,
  );
}

/** All of a detection, ended ones too, newest first, `limit` + 1 of them. */
export function listExceptions(tx: Tx, ref: Ref, { limit, after }: PageRequest): Promise<ExceptionRow[]> {
  return rows(
    tx,
    sql<ExceptionRow>`select ${columns} from exceptions where ${mine(ref)}
      ${after ? sql`and (created_at, id) < (${after.at}, ${after.id}::uuid)` : sql``} order by created_at desc, id desc limit ${limit + 1}`,
  );
}

export async function countExceptions(tx: Tx, ref: Ref): Promise<number> {
  const found = await row(tx, sql<{ n: number }>`select count(*) as n from exceptions where ${mine(ref)}`);
  return found?.n ?? 0;
}

export async function insertException(tx: Tx, ref: Ref, made: ExceptionRow): Promise<void> {
  await sql`
    insert into exceptions (organization_id, detection_id, id, kind, entity, field, value, reason, key_id, created_at, expires_at)
    values (${ref.orgId}, ${ref.detectionId}, ${made.id}, ${made.kind}, ${made.entity}, ${made.field}, ${made.value}, ${made.reason},
      ${made.keyId}, ${made.createdAt}, ${made.expiresAt})`.execute(tx);
}

export function deleteException(tx: Tx, ref: Ref, id: string): Promise<ExceptionRow | undefined> {
  return row(tx, sql<ExceptionRow>`delete from exceptions where ${mine(ref)} and id = ${id} returning ${columns}`);
}
