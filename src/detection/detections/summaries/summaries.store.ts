import { sql, type RawBuilder } from 'kysely';
import { queryRows, type Tx } from '../../../platform/db/db.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import { type ModelUsage, sumOfCosts } from '../../../platform/models/model-usage.store.ts';
import { severities } from '../../analysis/candidate.ts';
import { detectionConditions, type DetectionConditions, connectedColumn } from '../detection-views.store.ts';
import type { DetectionSummary, SummarySort, DetectionHealth } from './summaries.schema.ts';

type SummaryFilter = DetectionConditions & {
  health: string | undefined;
  sort: SummarySort;
  isDescending: boolean;
  limit: number;
  after: { value: string; id: string } | null;
  /** First UTC day of the series. */
  firstDay: string;
};

/** A summary as stored, with its place in the order. `sortValue` is text that PostgreSQL converts back exactly. */
export type SummaryRow = Omit<
  DetectionSummary,
  'hitsByDay' | 'newHits30d' | 'lastRunAt' | 'nextRunAt' | 'createdAt' | 'updatedAt'
> & {
  sortValue: string;
  total: number;
  lastRunAt: Date | null;
  nextRunAt: Date | null;
  createdAt: Date;
  updatedAt: Date;
};

type Sort = { type: string; value: RawBuilder<unknown>; join?: RawBuilder<unknown> };

const join = (table: string, alias: string, id: string): RawBuilder<unknown> =>
  sql`left join ${sql.table(table)} ${sql.ref(alias)} on ${sql.ref(`${alias}.organization_id`)} = a.organization_id and ${sql.ref(`${alias}.${id}`)} = a.id`;

const hitCounts = (orgId: OrgId, condition: RawBuilder<unknown>): Sort => ({
  type: 'bigint',
  value: sql`coalesce(h.n, 0)`,
  join: sql`left join (select detection_id, count(*) as n from hits where organization_id = ${orgId} and ${condition} group by 1) h on h.detection_id = a.id`,
});

const precision = sql`round(v.true_positives::numeric / nullif(v.true_positives + v.benign + v.false_positives, 0), 3)`;

/** Returns how a list is sorted: the value, its type, and the table that it needs. Absent values are the lowest. */
function sortOf(orgId: OrgId, { sort, firstDay }: SummaryFilter): Sort {
  const time = (value: RawBuilder<unknown>): Sort => ({
    type: 'timestamptz',
    value: sql`coalesce(${value}, '-infinity')`,
  });
  switch (sort) {
    case 'createdAt':
      return time(sql`a.created_at`);
    case 'name':
      return { type: 'text', value: sql`lower(a.name)` };
    case 'lastRunAt':
      return { ...time(sql`f.last_run_at`), join: join('run_facts', 'f', 'detection_id') };
    case 'nextRunAt':
      return time(sql`case when a.enabled then s.next_slot_at end`);
    case 'newHits30d':
      return hitCounts(orgId, sql`created_at >= ${firstDay}::date`);
    case 'openHits':
      return hitCounts(orgId, sql`status = 'open'`);
    case 'precision':
      return {
        type: 'numeric',
        value: sql`coalesce(${precision}, -1)`,
        join: join('hit_reviews', 'v', 'detection_id'),
      };
  }
}

/**
 * Lists `limit` + 1 detections that are neither deleted nor suggestions. The order is decided first, from the tables that it needs; the
 * details are then read for this page only, by index.
 */
export function listSummaries(tx: Tx, orgId: OrgId, filter: SummaryFilter): Promise<SummaryRow[]> {
  const { type, value, join: sortJoin = sql`` } = sortOf(orgId, filter);
  const { after, isDescending, limit } = filter;
  const conditions = [
    ...detectionConditions(filter),
    ...(filter.health === undefined ? [] : [sql`${healthColumn} = ${filter.health}`]),
  ];
  const [compare, direction] = isDescending ? [sql`<`, sql`desc`] : [sql`>`, sql`asc`];
  const cursor = after
    ? sql`where (sort_value, id) ${compare} (cast(${after.value} as ${sql.raw(type)}), ${after.id}::uuid)`
    : sql``;
  return queryRows<SummaryRow>(tx)`
      with matching as materialized (
        select a.id, ${value} as sort_value from agents a ${scheduleJoin} ${sortJoin}
        where a.organization_id = ${orgId} and ${sql.join(conditions, sql` and `)}
      ), page as materialized (
        select * from matching ${cursor} order by sort_value ${direction}, id ${direction} limit ${limit + 1}
      )
      select a.id, a.name, a.detection_category as category, a.tags, a.siem_type as "siemType", a.enabled, coalesce(a.continuous, false) as continuous, a.disabled_reason as "disabledReason",
        ${healthColumn} as health, (${[...severities]}::text[])[o.severity] as severity, o.n::int as "openHits", d.runs::int as "runs30d",
        coalesce(v.true_positives + v.benign + v.false_positives, 0) as reviewed, ${precision} as precision,
        f.last_run_at as "lastRunAt", case when a.enabled then s.next_slot_at end as "nextRunAt", a.created_at as "createdAt", a.updated_at as "updatedAt",
        page.sort_value::text as "sortValue", (select count(*) from matching)::int as total
      from page join agents a on a.organization_id = ${orgId} and a.id = page.id ${scheduleJoin}
        ${join('run_facts', 'f', 'detection_id')} ${join('hit_reviews', 'v', 'detection_id')}
        cross join lateral (select count(*) as n, max(array_position(${[...severities]}::text[], severity)) as severity from hits
          where organization_id = ${orgId} and detection_id = a.id and status = 'open') o
        cross join lateral (select coalesce(sum(runs), 0) as runs from run_days
          where organization_id = ${orgId} and detection_id = a.id and day >= ${filter.firstDay}::date) d
      order by page.sort_value ${direction}, page.id ${direction}`;
}

/** Counts the hits that detections raised by UTC day, from a day on. Days without a hit are absent. */
export function countHitsByDay(
  tx: Tx,
  orgId: OrgId,
  { ids, firstDay }: { ids: string[]; firstDay: string },
): Promise<{ id: string; day: string; n: number }[]> {
  return queryRows<{ id: string; day: string; n: number }>(tx)`
      select detection_id as id, (created_at at time zone 'UTC')::date as day, count(*) as n from hits
      where organization_id = ${orgId} and detection_id = any(${ids}::uuid[]) and created_at >= ${firstDay}::date group by 1, 2`;
}

type DayRow = {
  day: string;
  runs: number;
  triggered: number;
  avgScore: number | null;
  calls: number;
  tokens: number;
  costUsd: number | null;
};

/** Returns the figures of a detection by UTC day, from a day on. Days without a run or a model call are absent. */
export function listDays(tx: Tx, orgId: OrgId, { id, firstDay }: { id: string; firstDay: string }): Promise<DayRow[]> {
  return queryRows<DayRow>(tx)`
      select coalesce(r.day, u.day) as day, coalesce(r.runs, 0)::int as runs, coalesce(r.triggered, 0)::int as triggered, r.score as "avgScore",
        coalesce(u.calls, 0) as calls, coalesce(u.tokens, 0) as tokens, case when u.day is null then 0 else u.cost end as "costUsd"
      from (select day, sum(runs) as runs, sum(triggered) as triggered, round(sum(score_sum) / nullif(sum(scores), 0), 1) as score
          from run_days where organization_id = ${orgId} and detection_id = ${id} and day >= ${firstDay}::date group by day) r
        full join (select day, sum(calls) as calls, sum(tokens) as tokens, ${sumOfCosts} as cost
          from model_usage where organization_id = ${orgId} and detection_id = ${id} and day >= ${firstDay}::date group by day) u using (day)`;
}

const ofDetection = sql`organization_id = a.organization_id and detection_id = a.id`;

/** The health of a row of `agents a` as an expression. It needs `scheduleJoin`, and every part of it is an index lookup. */
export const healthColumn: RawBuilder<DetectionHealth> = sql<DetectionHealth>`case
    when not a.enabled then case when a.disabled_reason is null then 'disabled' else 'stopped' end
    when s.author_failures > 0 or exists (select from pending_windows where ${ofDetection} and failure is not null) then 'failing'
    when exists (select from connection_pauses p where p.organization_id = a.organization_id and p.connection_id = s.connection_id) then 'paused'
    when exists (select from gaps where ${ofDetection} and state = 'open') then 'gap'
    when not ${connectedColumn} or exists (
      select from query_warnings w where w.organization_id = a.organization_id and w.detection_id = a.id and w.revision = a.revision and w.warnings <> '[]') then 'warning'
    else 'healthy' end`;

/** The schedule of a row of `agents a`, as `s`. */
export const scheduleJoin = sql`left join schedules s on s.organization_id = a.organization_id and s.detection_id = a.id`;

/** Returns what a detection spent by alias, from a UTC day on, the most tokens first. */
export const listAliasTotals = (
  tx: Tx,
  orgId: OrgId,
  { id, firstDay }: { id: string; firstDay: string },
): Promise<ModelUsage[]> =>
  queryRows<ModelUsage>(tx)`
      select alias, sum(calls) as calls, sum(tokens) as tokens, ${sumOfCosts} as "costUsd" from model_usage
      where organization_id = ${orgId} and detection_id = ${id} and day >= ${firstDay}::date group by alias order by 3 desc, alias`;
