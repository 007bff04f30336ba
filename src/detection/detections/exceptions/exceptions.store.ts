import { sql } from 'kysely';
import type { ExceptionPreview } from './exceptions.schema.ts';
import type { Exception, ExceptionSubject } from '../../analysis/exceptions.ts';
import { replaceValue, deleteRowsWithValue } from '../../../platform/db/erasure.store.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import { queryRow, queryRows, type Tx } from '../../../platform/db/db.ts';
import type { PageRequest } from '../../../platform/lib/page-request.ts';
import type { DetectionKey } from '../../scheduling/timeline.ts';

export type ExceptionRow = Exception & {
  reason: string;
  owner: string | null;
  hitIds: string[];
  keyId: string | null;
  actor: string | null;
  createdAt: Date;
  expiresAt: Date | null;
  matches: number;
  mutedRows: number;
  lastMatchedAt: Date | null;
  /** IDs of the candidates that it muted last, latest first. */
  latestIds: string[];
};

const rule = sql`id, kind, entity, field, value, list, conditions::jsonb as conditions`;
const columns = sql`${rule}, reason, owner, hit_ids as "hitIds", key_id as "keyId", actor, created_at as "createdAt", expires_at as "expiresAt",
  matches, muted_rows as "mutedRows", last_matched_at as "lastMatchedAt", latest_ids as "latestIds"`;
const isOfDetection = ({ orgId, detectionId }: DetectionKey) =>
  sql`organization_id = ${orgId} and detection_id = ${detectionId}`;

type ExpiringException = Exception & { expiresAt: Date | null };

/** Returns the exceptions and snoozes that have not expired at a time, oldest first. */
export function listActiveExceptions(tx: Tx, key: DetectionKey, at: Date): Promise<ExpiringException[]> {
  return queryRows<ExpiringException>(tx)`select ${rule}, expires_at as "expiresAt" from exceptions
      where ${isOfDetection(key)} and (expires_at is null or expires_at > ${at}) order by created_at, id`;
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
    insert into exceptions (organization_id, detection_id, id, kind, entity, field, value, list, conditions, reason, owner, hit_ids, key_id, actor, created_at, expires_at)
    values (${key.orgId}, ${key.detectionId}, ${exception.id}, ${exception.kind}, ${exception.entity}, ${exception.field}, ${exception.value}, ${exception.list},
      ${JSON.stringify(exception.conditions)}, ${exception.reason}, ${exception.owner}, ${exception.hitIds}::uuid[], ${exception.keyId}, ${exception.actor}, ${exception.createdAt}, ${exception.expiresAt})`.execute(
    tx,
  );
}

export function deleteException(tx: Tx, key: DetectionKey, id: string): Promise<ExceptionRow | undefined> {
  return queryRow<ExceptionRow>(tx)`
    delete from exceptions where ${isOfDetection(key)} and id = ${id} returning ${columns}`;
}

/** An exception whose end is closer than this ends soon. */
export const soonMs = 7 * 86_400_000;

/** An exception of a live detection that ends within a week. */
export type EndingException = {
  orgId: string;
  id: string;
  detectionId: string;
  detection: string;
  owner: string | null;
  expiresAt: Date;
  matches: number;
};

const ending = sql`e.organization_id as "orgId", e.id, e.detection_id as "detectionId", a.name as detection, e.owner, e.expires_at as "expiresAt", e.matches`;
const endsSoon = (
  now: Date,
) => sql`e.kind = 'exception' and e.expires_at > ${now} and e.expires_at < ${new Date(now.getTime() + soonMs)}
  and a.organization_id = e.organization_id and a.id = e.detection_id and a.deleted_at is null`;

/** Lists the exceptions that end within a week, the first to end first. */
export const listEndingExceptions = (tx: Tx, orgId: OrgId, now: Date, limit: number): Promise<EndingException[]> =>
  queryRows<EndingException>(tx)`
      select ${ending} from exceptions e, agents a where e.organization_id = ${orgId} and ${endsSoon(now)}
      order by e.expires_at, e.id limit ${limit}`;

/** Marks up to `limit` exceptions that end within a week and whose last half has begun as announced. Returns those that were not before. */
export const markEndingExceptionsAcrossOrgs = (tx: Tx, now: Date, limit: number): Promise<EndingException[]> =>
  queryRows<EndingException>(tx)`
      with due as (
        select ${ending} from exceptions e, agents a
        where ${endsSoon(now)} and e.announced_at is null and e.created_at + (e.expires_at - e.created_at) / 2 <= ${now}
        order by e.organization_id, e.id limit ${limit} for update of e skip locked
      )
      update exceptions e set announced_at = ${now} from due where e.organization_id = due."orgId" and e.id = due.id returning due.*`;

/** A candidate that an exception muted, with the number of its rows. */
export type MutedCandidate = { exceptionId: string; candidateId: string; rows: number };

const latestMax = 5;

/** Counts the candidates that exceptions muted, and keeps the IDs of the latest. */
export async function addExceptionMatches(
  tx: Tx,
  key: DetectionKey,
  muted: readonly MutedCandidate[],
  now: Date,
): Promise<void> {
  if (muted.length === 0) return;
  const ids = muted.map(({ exceptionId }) => exceptionId);
  // Locked in a fixed order, so that two runs cannot wait for each other.
  await sql`
    with counts as (
      select id, count(*)::int as n, sum(rows)::bigint as rows, array_agg(candidate_id order by position desc) as latest
      from unnest(${ids}::uuid[], ${muted.map(({ candidateId }) => candidateId)}::uuid[], ${muted.map(({ rows }) => rows)}::int[])
        with ordinality as m (id, candidate_id, rows, position) group by id
    ),
    locked as (
      select e.id from exceptions e join counts using (id) where e.organization_id = ${key.orgId} order by e.id for update of e
    )
    update exceptions e set matches = e.matches + counts.n, muted_rows = e.muted_rows + counts.rows, last_matched_at = ${now},
      latest_ids = (counts.latest || e.latest_ids)[1:${latestMax}]
    from counts join locked using (id) where e.organization_id = ${key.orgId} and e.id = counts.id`.execute(tx);
}

/** Returns one of the IDs that is not that of a hit of the detection, or undefined. */
export async function findUnknownHit(tx: Tx, key: DetectionKey, ids: readonly string[]): Promise<string | undefined> {
  if (ids.length === 0) return undefined;
  const row = await queryRow<{ id: string }>(tx)`
      select i.id from unnest(${ids}::uuid[]) as i (id)
      where not exists (select from hits h where h.organization_id = ${key.orgId} and h.detection_id = ${key.detectionId} and h.id = i.id) limit 1`;
  return row?.id;
}

export type MutedExample = { id: string; runId: string; entity: string; windowFrom: Date; windowTo: Date };

/** Returns those of the candidates that are still stored. */
export const listMutedExamples = (tx: Tx, orgId: OrgId, ids: readonly string[]): Promise<MutedExample[]> =>
  queryRows<MutedExample>(tx)`
      select id, run_id as "runId", entity, window_from as "windowFrom", window_to as "windowTo" from candidates
      where organization_id = ${orgId} and id = any(${ids}::uuid[])`;

/** Deletes exceptions that contain a value, and replaces it in the names of owners. Returns how many were deleted. */
export async function eraseFromExceptions(tx: Tx, orgId: OrgId, value: string): Promise<number> {
  const columns = ['entity', 'value', 'reason', 'conditions'];
  const deleted = await deleteRowsWithValue(tx, { orgId, table: 'exceptions', columns }, value);
  await replaceValue(tx, { orgId, table: 'exceptions', columns: ['owner'] }, value);
  return deleted;
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

export type PastHit = PreviewedHit & { verdict: string };

/** Returns up to `limit` hits of a detection: those of `ids` first, then true positives and those that nobody decided, then the newest. */
export function listPastHits(
  tx: Tx,
  { orgId, detectionId }: DetectionKey,
  { ids, limit }: { ids: readonly string[]; limit: number },
): Promise<PastHit[]> {
  return queryRows<PastHit>(tx)`
      select id, entity, headline, severity, status, verdict, created_at as "createdAt", rows, facts from hits
      where organization_id = ${orgId} and detection_id = ${detectionId}
      order by id = any(${ids}::uuid[]) desc, status = 'true_positive' or status = 'open' and verdict = 'undecided' desc, created_at desc, id desc
      limit ${limit}`;
}

export type PastCandidate = { state: string; entity: string; rows: string; facts: string; createdAt: Date };

/** Returns up to `limit` findings of a detection that became no hit: those that wait for a person first, then the newest. */
export const listPastCandidates = (
  tx: Tx,
  { orgId, detectionId }: DetectionKey,
  limit: number,
): Promise<PastCandidate[]> =>
  queryRows<PastCandidate>(tx)`
      with found as materialized (
        (select id, true as waits from candidates
          where organization_id = ${orgId} and detection_id = ${detectionId} and state = 'review' order by window_from desc, id desc limit ${limit})
        union all
        (select id, false from candidates
          where organization_id = ${orgId} and detection_id = ${detectionId} and state <> 'review' and hit_id is null
          order by window_from desc, id desc limit ${limit})
      )
      select c.state, c.entity, c.rows, c.facts, c.created_at as "createdAt" from found join candidates c using (id)
      where c.organization_id = ${orgId} order by waits desc, c.window_from desc, id desc limit ${limit}`;
