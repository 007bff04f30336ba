import { sql } from 'kysely';
import type { ExceptionPreview } from './exceptions.schema.ts';
import type { Exception, ExceptionSubject } from '../../analysis/exceptions.ts';
import { queryRow, queryRows, type Tx } from '../../../platform/db/db.ts';
import type { PageRequest } from '../../../platform/lib/page-request.ts';
import type { DetectionKey } from '../../scheduling/timeline.ts';

export type ExceptionRow = Exception & {
  reason: string;
  keyId: string | null;
  actor: string | null;
  createdAt: Date;
  expiresAt: Date | null;
  matches: number;
  lastMatchedAt: Date | null;
};

const columns = sql`id, kind, entity, field, value, list, reason, key_id as "keyId", actor, created_at as "createdAt", expires_at as "expiresAt",
  matches, last_matched_at as "lastMatchedAt"`;
const isOfDetection = ({ orgId, detectionId }: DetectionKey) =>
  sql`organization_id = ${orgId} and detection_id = ${detectionId}`;

/** Returns the exceptions and snoozes that have not expired at `now`, oldest first. */
export function listActiveExceptions(tx: Tx, key: DetectionKey, now: Date): Promise<Exception[]> {
  return queryRows<Exception>(tx)`select id, kind, entity, field, value, list from exceptions
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
    insert into exceptions (organization_id, detection_id, id, kind, entity, field, value, list, reason, key_id, actor, created_at, expires_at)
    values (${key.orgId}, ${key.detectionId}, ${exception.id}, ${exception.kind}, ${exception.entity}, ${exception.field}, ${exception.value}, ${exception.list}, ${exception.reason},
      ${exception.keyId}, ${exception.actor}, ${exception.createdAt}, ${exception.expiresAt})`.execute(tx);
}

export function deleteException(tx: Tx, key: DetectionKey, id: string): Promise<ExceptionRow | undefined> {
  return queryRow<ExceptionRow>(
    tx,
  )`delete from exceptions where ${isOfDetection(key)} and id = ${id} returning ${columns}`;
}

/** Counts the candidates that exceptions muted. `ids` has an exception's ID once per candidate. */
export async function addExceptionMatches(tx: Tx, key: DetectionKey, ids: string[], now: Date): Promise<void> {
  if (ids.length === 0) return;
  // Locked in a fixed order, so that two runs cannot wait for each other.
  await sql`
    with counts as (select id, count(*)::int as n from unnest(${ids}::uuid[]) as matched (id) group by id),
    locked as (
      select e.id from exceptions e join counts using (id) where e.organization_id = ${key.orgId} order by e.id for update of e
    )
    update exceptions e set matches = e.matches + counts.n, last_matched_at = ${now}
    from counts join locked using (id) where e.organization_id = ${key.orgId} and e.id = counts.id`.execute(tx);
}

/** Returns what the detection found last, newest window first. */
export async function listLatestFindings(tx: Tx, key: DetectionKey, limit: number): Promise<ExceptionSubject[]> {
  const found = await queryRows<{ entity: string; facts: string; rows: string }>(tx)`
      select entity, facts, rows from candidates where ${isOfDetection(key)} order by window_from desc, id desc limit ${limit}`;
  return found.map(({ entity, facts, rows }) => ({
    entity,
    facts: JSON.parse(facts) as ExceptionSubject['facts'],
    rows: JSON.parse(rows) as ExceptionSubject['rows'],
  }));
}

type PreviewedHit = Omit<ExceptionPreview['hits'][number], 'createdAt'> & {
  createdAt: Date;
  rows: string;
  facts: string;
};

/** Returns the hits that a detection raised since a time, newest first. `rows` and `facts` are JSON. */
export function listHitsSince(
  tx: Tx,
  { orgId, detectionId }: DetectionKey,
  since: Date,
  limit: number,
): Promise<PreviewedHit[]> {
  return queryRows<PreviewedHit>(tx)`
      select id, entity, headline, severity, status, created_at as "createdAt", rows, facts from hits
      where organization_id = ${orgId} and detection_id = ${detectionId} and created_at >= ${since}
      order by created_at desc, id desc limit ${limit}`;
}
