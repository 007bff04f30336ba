import { sql } from 'kysely';
import { severities } from '../../detection/analysis/candidate.ts';
import { detectionConditions } from '../../detection/detections/detection-views.store.ts';
import { healthColumn, scheduleJoin } from '../../detection/detections/summaries/summaries.store.ts';
import type { DetectionHealth } from '../../detection/detections/summaries/summaries.schema.ts';
import { queryRow, queryRows, type Tx } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';

export type OpenHitsRow = {
  severity: (typeof severities)[number];
  open: number;
  newToday: number;
  newThisWeek: number;
  older: number;
  oldestAt: Date;
};

/** Counts the open hits by severity and age, most severe first. */
export function countOpenHits(tx: Tx, orgId: OrgId, now: Date): Promise<OpenHitsRow[]> {
  const [day, week] = [ageLimit(now, 1), ageLimit(now, 7)];
  return queryRows<OpenHitsRow>(tx)`
      select severity, count(*) as open, count(*) filter (where created_at >= ${day}) as "newToday",
        count(*) filter (where created_at < ${day} and created_at >= ${week}) as "newThisWeek",
        count(*) filter (where created_at < ${week}) as older, min(created_at) as "oldestAt"
      from hits where organization_id = ${orgId} and status = 'open'
      group by severity order by array_position(${[...severities]}::text[], severity) desc`;
}

const ageLimit = (now: Date, days: number): Date => new Date(now.getTime() - days * 86_400_000);

export async function countUndecided(tx: Tx, orgId: OrgId): Promise<number> {
  const found = await queryRow<{ n: number }>(tx)`
      select count(*) as n from hits where organization_id = ${orgId} and status = 'open' and verdict = 'undecided'`;
  return found!.n;
}

export type DayRow = { day: string; runs: number; triggered: number };
export type HitDayRow = { day: string; hits: number; reviewed: number; truePositives: number };

/** Sums the runs of all detections by UTC day, of the days before `before` if it is set. Built-in agents are left out. */
export function listRunDays(
  tx: Tx,
  orgId: OrgId,
  { from, before }: { from: string; before?: string },
): Promise<DayRow[]> {
  return queryRows<DayRow>(tx)`
      select day, sum(runs) as runs, sum(triggered) as triggered from run_days
      where organization_id = ${orgId} and day >= ${from}::date and day < ${before ?? 'infinity'}::date
        and detection_id not in (select id from agents where organization_id = ${orgId} and is_built_in) group by day`;
}

/** Counts the hits by the UTC day on which they were raised. */
export function listHitDays(tx: Tx, orgId: OrgId, firstDay: string): Promise<HitDayRow[]> {
  const day = sql`(created_at at time zone 'UTC')::date as day`;
  const recent = sql`organization_id = ${orgId} and created_at >= ${firstDay}::date`;
  return queryRows<HitDayRow>(tx)`
      select day, hits, coalesce(reviewed, 0) as reviewed, coalesce(right_ones, 0) as "truePositives"
      from (select ${day}, count(*) as hits from hits where ${recent} group by 1) raised
        left join (select ${day}, count(*) as reviewed, count(*) filter (where status = 'true_positive') as right_ones from hits
          where ${recent} and status in ('true_positive', 'benign', 'false_positive') group by 1) judged using (day)`;
}

export type HealthRow = { health: DetectionHealth; n: number };
export type AttentionRow = { id: string; name: string; health: DetectionHealth; reason: string | null };

/** Counts the detections by health, and lists up to `limit` of those that need attention, in the order of `urgent`. */
export async function readDetectionHealth(
  tx: Tx,
  orgId: OrgId,
  { urgent, limit }: { urgent: readonly DetectionHealth[]; limit: number },
): Promise<{ counts: HealthRow[]; attention: AttentionRow[] }> {
  const found = await queryRow<{ counts: HealthRow[] | null; attention: AttentionRow[] | null }>(tx)`
      with states as materialized (
        select a.id, a.name, a.disabled_reason, ${healthColumn} as health from agents a ${scheduleJoin}
        where a.organization_id = ${orgId} and ${sql.join(detectionConditions({}), sql` and `)}
      )
      select (select json_agg(c) from (select health, count(*) as n from states group by health) c) as counts,
        (select json_agg(u) from (
          select s.id, name, health, coalesce(disabled_reason, (
            select failure from pending_windows w where w.organization_id = ${orgId} and w.detection_id = s.id and failure is not null limit 1), (
            select g.reason from gaps g where g.organization_id = ${orgId} and g.detection_id = s.id and state = 'open' limit 1)) as reason
          from states s where health = any(${[...urgent]}::text[])
          order by array_position(${[...urgent]}::text[], health), name, id limit ${limit}) u) as attention`;
  return { counts: found?.counts ?? [], attention: found?.attention ?? [] };
}

export type PauseRow = { id: string; name: string; kind: string; message: string; since: Date };

export function listPausedConnections(tx: Tx, orgId: OrgId, limit: number): Promise<PauseRow[]> {
  return queryRows<PauseRow>(tx)`
      select c.id, c.name, p.kind, p.message, p.since_at as since from connection_pauses p
      join connections c on c.organization_id = p.organization_id and c.id = p.connection_id
      where p.organization_id = ${orgId} order by p.since_at desc, c.id limit ${limit}`;
}

export type WorkRow = {
  gaps: number;
  gapDetections: number;
  gapSince: Date | null;
  gapHours: number;
  queued: number;
  running: number;
  failingDestinations: number;
  suggestions: number;
  newestSuggestionAt: Date | null;
};

/** Counts open gaps, waiting runs, failing destinations and open suggestions. */
export async function countOpenWork(tx: Tx, orgId: OrgId): Promise<WorkRow> {
  const found = await queryRow<WorkRow>(tx)`
      select g.*, q.*, s.*, (select count(*) from destinations where organization_id = ${orgId}
          and (failures > 0 or (not enabled and disabled_reason is not null))) as "failingDestinations"
      from (select count(*) as gaps, count(distinct detection_id) as "gapDetections", min(gap_from) as "gapSince",
            coalesce(round((sum(extract(epoch from gap_to - coalesce(filled_to, gap_from))) / 3600)::numeric, 1), 0) as "gapHours"
          from gaps join agents a on a.organization_id = gaps.organization_id and a.id = detection_id and a.deleted_at is null
          where gaps.organization_id = ${orgId} and state = 'open') g,
        (select count(*) filter (where state = 'queued' and phase = 'examine') as queued, count(*) filter (where state = 'running' or phase = 'judge') as running
          from run_queue where organization_id = ${orgId}) q,
        (select count(*) as suggestions, max(created_at) as "newestSuggestionAt" from agents
          where organization_id = ${orgId} and is_suggestion and deleted_at is null) s`;
  return found!;
}

type SourceProblemRow = {
  id: string;
  name: string;
  failures: number;
  lastError: string | null;
  lastSuccessAt: Date | null;
  silentSince: string | null;
};
export type FeedWorkRow = {
  newToday: number;
  exposedThisWeek: number;
  sources: number;
  problems: SourceProblemRow[];
};

/** Counts new and exposed items of the visible pools, and lists the organization's sources that fail or are silent. */
export async function readFeedWork(
  tx: Tx,
  orgId: OrgId,
  { now, poolIds }: { now: Date; poolIds: string[] },
): Promise<FeedWorkRow> {
  const counts = await queryRow<Omit<FeedWorkRow, 'problems'>>(tx)`
      select (select count(*) from items where pool_id = any(${poolIds}::uuid[]) and added_to_feed_at >= ${ageLimit(now, 1)} and duplicate_of is null) as "newToday",
        (select count(*) from feed_overrides where organization_id = ${orgId} and exposed_at >= ${ageLimit(now, 7)}) as "exposedThisWeek",
        (select count(*) from feed_sources where organization_id = ${orgId} and deleted_at is null) as sources`;
  const problems = await queryRows<SourceProblemRow>(tx)`
      select * from (
        select id, name, failures, last_error as "lastError", last_success_at as "lastSuccessAt", cursor::json->>'silentSince' as "silentSince"
        from feed_sources where organization_id = ${orgId} and deleted_at is null and enabled) s
      where failures > 0 or "silentSince" is not null order by failures desc, "silentSince", name, id`;
  return { ...counts!, problems };
}
