import { sql } from 'kysely';
import { type Db, inOrg, queryRow, queryRows, type Tx } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import type { OrganizationUsage, UsageDay } from '../../platform/orgs/admin.schema.ts';

/** The usage that processes count in memory. */
export type UsageCounts = { requests: number; refusedRequests: number; queryMs: number; feedItems: number };

/** Adds counts to the days of organizations. Skips organizations that no longer exist. Rows are locked in one order, so that processes do not deadlock. */
export async function addUsageAcrossOrgs(
  tx: Tx,
  rows: readonly ({ day: string; orgId: string } & UsageCounts)[],
): Promise<void> {
  const column = (name: keyof UsageCounts): number[] => rows.map((row) => Math.round(row[name]));
  await sql`
    insert into usage_days as u (organization_id, day, requests, refused_requests, query_ms, feed_items)
    select o.id, c.day, c.requests, c.refused, c.query_ms, c.feed_items
    from unnest(${rows.map(({ orgId }) => orgId)}::uuid[], ${rows.map(({ day }) => day)}::date[], ${column('requests')}::bigint[],
      ${column('refusedRequests')}::bigint[], ${column('queryMs')}::bigint[], ${column('feedItems')}::bigint[])
      as c (id, day, requests, refused, query_ms, feed_items) join organizations o using (id)
    order by o.id, c.day for key share of o
    on conflict (organization_id, day) do update set requests = u.requests + excluded.requests,
      refused_requests = u.refused_requests + excluded.refused_requests, query_ms = u.query_ms + excluded.query_ms,
      feed_items = u.feed_items + excluded.feed_items`.execute(tx);
}

/**
 * Stores the current size of the log files of the next `limit` organizations by ID, as of a day, except of those that another process measured
 * within five minutes. Returns the last ID, or undefined if there are no more organizations.
 */
export async function measureStoredLogsAcrossOrgs(
  tx: Tx,
  { day, afterId, limit }: { day: string; afterId: string; limit: number },
): Promise<string | undefined> {
  const last = await queryRow<{ id: string }>(tx)`
    with page as materialized (select id from organizations where id > ${afterId} order by id limit ${limit} for key share),
      measured as (
        insert into usage_days as u (organization_id, day, log_bytes_stored, logs_measured_at)
        select page.id, ${day}::date, sum(s.bytes), clock_timestamp() from page join segments s on s.organization_id = page.id
        where s.replaced_at is null and not exists (select from usage_days r where r.organization_id = page.id and r.day = ${day}::date
          and r.logs_measured_at > clock_timestamp() - interval '5 minutes')
        group by page.id order by page.id
        on conflict (organization_id, day) do update
          set log_bytes_stored = excluded.log_bytes_stored, logs_measured_at = excluded.logs_measured_at
      )
    select id from page order by id desc limit 1`;
  return last?.id;
}

/** Deletes the days before a time. */
export async function deleteOldUsageAcrossOrgs(tx: Tx, before: Date): Promise<void> {
  await sql`delete from usage_days where day < ${before}::timestamptz::date`.execute(tx);
}

/** Returns what an organization used on each UTC day from `from` to `to`, both included, oldest first. */
export function listUsageDays(tx: Tx, orgId: OrgId, { from, to }: { from: string; to: string }): Promise<UsageDay[]> {
  const inRange = sql`organization_id = ${orgId} and day between ${from}::date and ${to}::date`;
  return queryRows<UsageDay>(tx)`
    select s.day::date as day, coalesce(l.events, 0) as "logEvents", coalesce(l.bytes, 0) as "logBytes",
      coalesce(u.log_bytes_stored, 0) as "logBytesStored", coalesce(r.runs, 0) as runs,
      round(coalesce(u.query_ms, 0) / 1000.0, 3) as "querySeconds", coalesce(m.tokens, 0) as "modelTokens",
      coalesce(m.cost, 0) as "modelCostUsd", coalesce(u.feed_items, 0) as "feedItems", coalesce(u.requests, 0) as requests,
      coalesce(u.refused_requests, 0) as "refusedRequests"
    from generate_series(${from}::timestamp, ${to}::timestamp, interval '1 day') s (day)
    left join (select day, sum(events) as events, sum(bytes) as bytes from dataset_days where ${inRange} group by day) l on l.day = s.day
    left join (select day, sum(runs) as runs from run_days where ${inRange} group by day) r on r.day = s.day
    left join (select day, sum(tokens) as tokens, sum(cost_usd) as cost from model_usage where ${inRange} group by day) m on m.day = s.day
    left join usage_days u on u.organization_id = ${orgId} and u.day = s.day
    order by s.day`;
}

/** Reads what an organization uses. */
export async function readOrganizationUsage(db: Db, orgId: OrgId): Promise<OrganizationUsage> {
  const usage = await inOrg(
    db,
    orgId,
    (tx) => queryRow<OrganizationUsage>(tx)`
      select
        a.detections, a.enabled as "enabledDetections",
        (select coalesce(sum(runs), 0) from run_days where organization_id = ${orgId} and day > current_date - 30) as runs,
        (select count(*) from hits where organization_id = ${orgId} and first_seen_at > now() - interval '30 days') as hits,
        (select count(*) from hits where organization_id = ${orgId} and status = 'open') as "openHits",
        r.tokens + b.tokens as "modelTokens", r.cost + b.cost as "modelCostUsd",
        d.datasets as "logDatasets", d.events as "logEvents",
        (select coalesce(sum(bytes), 0) from segments where organization_id = ${orgId} and replaced_at is null) as "logBytes",
        (select count(*) from feed_sources where organization_id = ${orgId} and deleted_at is null) as "feedSources",
        (select coalesce(sum(n), 0) from feed_counts
           where status <> 'retracted' and pool_id in (select id from feed_pools where organization_id = ${orgId} and kind = 'private')) as "feedItems",
        (select count(*) from api_keys where organization_id = ${orgId} and revoked_at is null
           and (expires_at is null or expires_at > now())) as "activeKeys"
      from
        (select count(*) as detections, count(*) filter (where enabled) as enabled from agents
           where organization_id = ${orgId} and agent_type = 'detection' and not is_suggestion and deleted_at is null) a,
        (select coalesce(sum(tokens), 0) as tokens, coalesce(sum(cost_usd), 0) as cost from runs
           where organization_id = ${orgId} and started_at > now() - interval '30 days') r,
        (select coalesce(sum(tokens), 0) as tokens, coalesce(sum(cost_usd), 0) as cost from agent_runs
           where organization_id = ${orgId} and started_at > now() - interval '30 days') b,
        (select count(*) as datasets, coalesce(sum(events), 0) as events from datasets where organization_id = ${orgId}) d`,
  );
  return usage!;
}

type AlarmLevel = 'nearing' | 'reached';

/** Claims organizations whose quotas were not checked for `everyMs`, and marks them as checked. */
export async function claimUncheckedAcrossOrgs(tx: Tx, everyMs: number, limit: number): Promise<OrgId[]> {
  const rows = await queryRows<{ id: OrgId }>(tx)`
    update organization_limits set checked_at = clock_timestamp() where organization_id in (
      select organization_id from organization_limits
      where checked_at is null or checked_at < clock_timestamp() - ${`${everyMs} milliseconds`}::interval
      order by checked_at nulls first limit ${limit} for update skip locked)
    returning organization_id as id`;
  return rows.map(({ id }) => id);
}

/** Returns and locks the alarms of an organization by quota. */
export async function lockAlarms(tx: Tx, orgId: OrgId): Promise<Map<string, AlarmLevel>> {
  const rows = await queryRows<{ quota: string; level: AlarmLevel }>(tx)`
    select quota, level from quota_alarms where organization_id = ${orgId} for update`;
  return new Map(rows.map(({ quota, level }) => [quota, level]));
}

export async function setAlarm(tx: Tx, orgId: OrgId, quota: string, level: AlarmLevel): Promise<void> {
  await sql`
    insert into quota_alarms (organization_id, quota, level, since) values (${orgId}, ${quota}, ${level}, clock_timestamp())
    on conflict (organization_id, quota) do update set level = excluded.level, since = excluded.since`.execute(tx);
}

export async function deleteAlarm(tx: Tx, orgId: OrgId, quota: string): Promise<void> {
  await sql`delete from quota_alarms where organization_id = ${orgId} and quota = ${quota}`.execute(tx);
}
