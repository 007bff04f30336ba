import { sql } from 'kysely';
import { acrossOrgs, queryRow, queryRows, type Db, type Tx } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { isNotSuspended } from '../../platform/orgs/orgs.store.ts';
import type { RunClaim } from '../scheduling/run-claim.ts';
import type { DetectionKey, TimeRange } from '../scheduling/timeline.ts';

/** A detection that is to be matched when events arrive, with the fields that decide whether it can be. */
export type ContinuousDetectionRow = {
  orgId: OrgId;
  detectionId: string;
  revision: number;
  query: string;
  category: string;
  connectionId: string | null;
  siemType: string | null;
  /** JSON. Null: the defaults apply. */
  tuning: string | null;
};

const isContinuous = sql`a.continuous and a.deleted_at is null and s.active`;

/** Lists active continuous detections of whose present revision the matcher knows nothing yet, those of one organization together. */
export function listUnknownDetectionsAcrossOrgs(db: Db, limit: number): Promise<ContinuousDetectionRow[]> {
  return acrossOrgs(
    db,
    (tx) => queryRows<ContinuousDetectionRow>(tx)`
      select a.organization_id as "orgId", a.id as "detectionId", a.revision, a.detection_query as query,
        a.detection_category as category, a.connection_id as "connectionId", a.siem_type as "siemType", a.tuning
      from agents a join schedules s on s.organization_id = a.organization_id and s.detection_id = a.id
        left join continuous_detections c on c.organization_id = a.organization_id and c.detection_id = a.id and c.revision = a.revision
      where ${isContinuous} and c.revision is null and ${isNotSuspended(sql`a.organization_id`)}
      order by a.organization_id, a.id limit ${limit}`,
  );
}

/** Whether a revision of a detection is matched: the dataset that it reads, or why it only runs at its slots. */
export type Eligibility = DetectionKey & {
  revision: number;
  dataset: string | null;
  obstacle: string | null;
  expensive: boolean;
};

/**
 * Stores the eligibility of a revision. Events are matched from the position of the dataset on, which begins after the newest event if no detection
 * was matched with the dataset before.
 */
export async function storeEligibility(tx: Tx, one: Eligibility, now: Date): Promise<void> {
  const { orgId, detectionId, revision, dataset, obstacle, expensive } = one;
  await sql`
    with position as (
      insert into match_positions (organization_id, dataset, reader, matched_to)
      select ${orgId}::uuid, ${dataset}::text, 'detections', coalesce((select last_ingested_at + interval '1 millisecond' from datasets
        where organization_id = ${orgId} and name = ${dataset}), ${now}::timestamptz) where ${dataset}::text is not null
      on conflict (organization_id, dataset, reader) do nothing
    )
    insert into continuous_detections (organization_id, detection_id, revision, dataset, obstacle, expensive)
    values (${orgId}, ${detectionId}, ${revision}, ${dataset}, ${obstacle}, ${expensive})
    on conflict (organization_id, detection_id) do update set revision = excluded.revision, dataset = excluded.dataset,
      obstacle = excluded.obstacle, expensive = excluded.expensive, matched_from = null, paused_at = null, minute_at = null, minute_events = 0`.execute(
    tx,
  );
}

/** The definition of a detection at one revision. */
export type DetectionRevision = { detectionId: string; revision: number };

/** The detections that are matched with a dataset now, at their present revision. */
const matchedDetections = (orgId: OrgId, dataset: string) => sql`
  continuous_detections c join agents a on a.organization_id = c.organization_id and a.id = c.detection_id and a.revision = c.revision
    join schedules s on s.organization_id = a.organization_id and s.detection_id = a.id
  where c.organization_id = ${orgId} and c.dataset = ${dataset} and c.paused_at is null and ${isContinuous} and s.connection_id is null`;

/** Returns a text that differs whenever a dataset is matched with other detections or revisions. Null: with none. */
export async function readMatchedKey(tx: Tx, orgId: OrgId, dataset: string): Promise<string | null> {
  const found = await queryRow<{ key: string | null }>(tx)`
    select md5(string_agg(a.id || ':' || a.revision, ',' order by a.id)) as key from ${matchedDetections(orgId, dataset)}`;
  return found?.key ?? null;
}

/** Lists the detections that are matched with a dataset. */
export const listMatchedDetections = (tx: Tx, orgId: OrgId, dataset: string): Promise<DetectionRevision[]> =>
  queryRows<DetectionRevision>(tx)`
    select a.id as "detectionId", a.revision from ${matchedDetections(orgId, dataset)} order by a.id`;

/** Returns the queries of detections at these revisions. */
export const listQueries = (
  tx: Tx,
  orgId: OrgId,
  revisions: readonly DetectionRevision[],
): Promise<(DetectionRevision & { query: string })[]> =>
  queryRows<DetectionRevision & { query: string }>(tx)`
    select v.agent_id as "detectionId", v.revision, v.definition::json ->> 'detectionQuery' as query
    from agent_revisions v join ${unnestRevisions(revisions)} on v.agent_id = r.detection_id and v.revision = r.revision
    where v.organization_id = ${orgId}`;

const unnestRevisions = (revisions: readonly DetectionRevision[]) => sql`
  unnest(${revisions.map(({ detectionId }) => detectionId)}::uuid[], ${revisions.map(({ revision }) => revision)}::int[])
    as r (detection_id, revision)`;

/** Notes that detections are matched from a time on, unless they have been before. */
export async function noteMatchedFrom(
  tx: Tx,
  orgId: OrgId,
  { revisions, from }: { revisions: readonly DetectionRevision[]; from: Date },
): Promise<void> {
  await sql`
    update continuous_detections c set matched_from = ${from} from ${unnestRevisions(revisions)}
    where c.organization_id = ${orgId} and c.detection_id = r.detection_id and c.revision = r.revision
    and c.matched_from is null`.execute(tx);
}

/** The number of events of a window that match a detection. */
export type MatchCount = DetectionRevision & { events: number };

/** A detection that matched too many events in a minute of slot time, and their number. */
export type PausedDetection = { detectionId: string; name: string; events: number };

/** Counts what detections matched, per minute of slot time. Pauses those that matched more than `perMinuteMax` in this minute, and returns them. */
export async function countMatches(
  tx: Tx,
  orgId: OrgId,
  { matches, now, perMinuteMax }: { matches: readonly MatchCount[]; now: Date; perMinuteMax: number },
): Promise<PausedDetection[]> {
  if (matches.length === 0) return [];
  const inMinute = sql`case when c.minute_at = date_trunc('minute', ${now}::timestamptz) then c.minute_events else 0 end + m.events`;
  const counted = await queryRows<PausedDetection & { paused: boolean }>(tx)`
    update continuous_detections c set minute_at = date_trunc('minute', ${now}::timestamptz), minute_events = ${inMinute},
      events = c.events + m.events, matched_at = ${now},
      paused_at = case when ${inMinute} > ${perMinuteMax} then ${now}::timestamptz end
    from unnest(${matches.map(({ detectionId }) => detectionId)}::uuid[], ${matches.map(({ revision }) => revision)}::int[],
        ${matches.map(({ events }) => events)}::int[]) as m (detection_id, revision, events)
      join agents a on a.organization_id = ${orgId} and a.id = m.detection_id
    where c.organization_id = ${orgId} and c.detection_id = m.detection_id and c.revision = m.revision
    returning c.detection_id as "detectionId", a.name, c.minute_events as events, c.paused_at is not null as paused`;
  return counted.filter(({ paused }) => paused);
}

/**
 * Returns whether all events of the window of a slot have been matched at the revision of its run, and nothing of that waits to be stored. Events that
 * the slot finds and that are not stored afterwards were missed. Asked before these are looked up, so that a run that stores its window in between
 * counts as one that found them.
 */
export async function isWindowMatched(
  tx: Tx,
  { orgId, detectionId, runId, dueAt }: Pick<RunClaim, 'orgId' | 'detectionId' | 'runId' | 'dueAt'>,
  window: TimeRange,
): Promise<boolean> {
  const found = await queryRow<{ one: number }>(tx)`
    select 1 as one from continuous_detections c, match_positions p
    where c.organization_id = ${orgId} and c.detection_id = ${detectionId} and c.paused_at is null
      and c.revision = (select r.revision from runs r where r.organization_id = ${orgId} and r.due_at = ${dueAt} and r.id = ${runId})
      and c.matched_from <= ${window.from} and p.organization_id = c.organization_id and p.dataset = c.dataset and p.reader = 'detections'
      and not exists (select from segments g where g.organization_id = c.organization_id and g.dataset = c.dataset and not g.history
        and g.replaced_at is null and g.ingested_to >= p.matched_to and g.ingested_from < ${window.to})
      and not exists (select from matched_windows w where w.organization_id = c.organization_id and w.detection_id = c.detection_id)`;
  return found !== undefined;
}

/** Adds to the number of events that matching has missed. */
export async function addMissedEvents(tx: Tx, { orgId, detectionId }: DetectionKey, events: number): Promise<void> {
  await sql`
    update continuous_detections set missed = missed + ${events}
      where organization_id = ${orgId} and detection_id = ${detectionId}`.execute(tx);
}

/** The state of the continuous matching of a detection. */
export type ContinuousStateRow = {
  continuous: boolean;
  active: boolean;
  dataset: string | null;
  obstacle: string | null;
  isKnown: boolean;
  expensive: boolean;
  matchedFrom: Date | null;
  matchedTo: Date | null;
  pausedAt: Date | null;
  minuteEvents: number;
  events: number;
  missed: number;
  matchedAt: Date | null;
  latencyMs: number | null;
  /** Receipt of the newest events of the dataset that have not been matched. Null if all have been. */
  waitingSince: Date | null;
};

/** Finds the state of a detection that is not deleted. */
export function findContinuousState(
  tx: Tx,
  { orgId, detectionId }: DetectionKey,
): Promise<ContinuousStateRow | undefined> {
  return queryRow<ContinuousStateRow>(tx)`
    select coalesce(a.continuous, false) as continuous, coalesce(s.active, false) as active, c.dataset, c.obstacle,
      c.revision is not null as "isKnown", coalesce(c.expensive, false) as expensive, c.matched_from as "matchedFrom", p.matched_to as "matchedTo", c.paused_at as "pausedAt",
      coalesce(c.minute_events, 0) as "minuteEvents", coalesce(c.events, 0)::float8 as events, coalesce(c.missed, 0)::float8 as missed,
      c.matched_at as "matchedAt", c.latency_ms::float8 as "latencyMs",
      (select min(g.ingested_from) from segments g where g.organization_id = p.organization_id and g.dataset = p.dataset and not g.history
        and g.replaced_at is null and g.ingested_to >= p.matched_to) as "waitingSince"
    from agents a left join schedules s on s.organization_id = a.organization_id and s.detection_id = a.id
      left join continuous_detections c on c.organization_id = a.organization_id and c.detection_id = a.id and c.revision = a.revision
      left join match_positions p on p.organization_id = c.organization_id and p.dataset = c.dataset and p.reader = 'detections'
    where a.organization_id = ${orgId} and a.id = ${detectionId} and a.agent_type = 'detection' and not a.is_built_in and a.deleted_at is null`;
}
