import { inOrg, queryRow, type Db } from '../../platform/db/db.ts';
import type { OrganizationUsage } from '../../platform/orgs/admin.schema.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';

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
