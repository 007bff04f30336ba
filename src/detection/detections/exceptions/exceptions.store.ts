import { sql } from 'kysely';
import type { Exception } from '../../analysis/exceptions.ts';
import { queryRow, queryRows, type Tx } from '../../../platform/db/db.ts';
import type { PageRequest } from '../../../platform/lib/page-request.ts';
import type { DetectionKey } from '../../scheduling/detection-key.ts';

export type ExceptionRow = Exception & {
  reason: string;
  keyId: string | null;
  createdAt: Date;
  expiresAt: Date | null;
};

const columns = sql`id, kind, entity, field, value, reason, key_id as "keyId", created_at as "createdAt", expires_at as "expiresAt"`;
const isOfDetection = ({ orgId, detectionId }: DetectionKey) =>
  sql`organization_id = ${orgId} and detection_id = ${detectionId}`;

/** Returns the exceptions and snoozes that have not expired at `now`, oldest first. */
export function listActiveExceptions(tx: Tx, key: DetectionKey, now: Date): Promise<Exception[]> {
  return queryRows<Exception>(tx)`select id, kind, entity, field, value from exceptions
      where ${isOfDetection(key)} and (expires_at is null or expires_at > ${now}) order by created_at, id`;
}

/** Returns `limit` + 1 exceptions of a detection, newest first, expired ones included. */
export function listExceptions(tx: Tx, key: DetectionKey, { limit, after }: PageRequest): Promise<ExceptionRow[]> {
  return queryRows<ExceptionRow>(tx)`select ${columns} from exceptions where ${isOfDetection(key)}
      ${after ? sql`and (created_at, id) < (${after.at}, ${after.id}::uuid)` : sql``} order by created_at desc, id desc limit ${limit + 1}`;
}

export async function countExceptions(tx: Tx, key: DetectionKey): Promise<number> {
  const found = await queryRow<{ n: number }>(tx)`select count(*) as n from exceptions where ${isOfDetection(key)}`;
  return found?.n ?? 0;
}

export async function insertException(tx: Tx, key: DetectionKey, exception: ExceptionRow): Promise<void> {
  await sql`
    insert into exceptions (organization_id, detection_id, id, kind, entity, field, value, reason, key_id, created_at, expires_at)
    values (${key.orgId}, ${key.detectionId}, ${exception.id}, ${exception.kind}, ${exception.entity}, ${exception.field}, ${exception.value}, ${exception.reason},
      ${exception.keyId}, ${exception.createdAt}, ${exception.expiresAt})`.execute(tx);
}

export function deleteException(tx: Tx, key: DetectionKey, id: string): Promise<ExceptionRow | undefined> {
  return queryRow<ExceptionRow>(
    tx,
  )`delete from exceptions where ${isOfDetection(key)} and id = ${id} returning ${columns}`;
}
