import { sql } from 'kysely';
import { acrossOrgs, row, rows, type Db, type Tx } from '../db/db.ts';
import type { Agent } from '../detections/agent.ts';
import { effectiveCron } from '../detections/cadence.ts';
import type { OrgId } from '../lib/org-id.ts';

export type Researcher = { orgId: OrgId; agentId: string; cron: string | null; lastRunAt: Date | null };

type Row = Omit<Researcher, 'cron'> & Pick<Agent, 'custom_cron_schedule' | 'detection_cadence'>;

/** The `threat-research` agents that are switched on, which they are only with a schedule. */
export async function listResearchersAcrossOrgs(db: Db): Promise<Researcher[]> {
  const found = await acrossOrgs(db, (tx) =>
    rows(
      tx,
      sql<Row>`
        select a.organization_id as "orgId", a.id as "agentId", f.last_run_at as "lastRunAt", a.custom_cron_schedule, a.detection_cadence
        from agents a left join run_facts f on f.organization_id = a.organization_id and f.detection_id = a.id
        where a.is_built_in and a.built_in_agent_type = 'threat-research' and a.enabled`,
    ),
  );
  return found.map((one) => ({
    orgId: one.orgId,
    agentId: one.agentId,
    lastRunAt: one.lastRunAt,
    cron: effectiveCron(one),
  }));
}

/** Notes that the agent runs now. False: another process did so since it was listed. */
export async function claimResearch(tx: Tx, { orgId, agentId, lastRunAt }: Researcher, now: Date): Promise<boolean> {
  const claimed = await row(
    tx,
    sql`
      insert into run_facts as f (organization_id, detection_id, last_run_at) values (${orgId}, ${agentId}, ${now})
      on conflict (organization_id, detection_id) do update set last_run_at = excluded.last_run_at
        where f.last_run_at is not distinct from ${lastRunAt}::timestamptz
      returning 1`,
  );
  return claimed !== undefined;
}

/** Documents of the newest items that the organization sees, are not retracted, and are of severity medium or above. */
export async function listRecentItems(
  tx: Tx,
  orgId: OrgId,
  { since, limit }: { since: Date; limit: number },
): Promise<string[]> {
  const found = await rows(
    tx,
    sql<{ doc: string }>`
      select i.doc from items i join feed_pools p on p.id = i.pool_id
      where (p.kind = 'public' or p.organization_id = ${orgId} or (p.kind = 'assigned' and ${orgId}::uuid = any(p.assigned_to)))
        and i.added_to_feed_at > ${since} and i.status <> 'retracted' and i.severity in ('medium', 'high', 'critical')
      order by i.added_to_feed_at desc, i.id desc limit ${limit}`,
  );
  return found.map(({ doc }) => doc);
}

/** Those of the queries that a detection or suggestion has, or had until after `since`. */
export async function knownQueries(tx: Tx, orgId: OrgId, queries: string[], since: Date): Promise<Set<string>> {
  const found = await rows(
    tx,
    sql<{ query: string }>`
      select distinct detection_query as query from agents
      where organization_id = ${orgId} and detection_query = any(${queries}::text[]) and (deleted_at is null or deleted_at > ${since})`,
  );
  return new Set(found.map(({ query }) => query));
}
