import { withClient } from '../../test/support/program-environment.ts';

export const detectionsPerOrg = 100;
/** About one merged file a day for as long as logs are kept. */
export const segmentsPerOrg = 90;
/** The slot of which every detection is due. */
export const slot = new Date(Date.UTC(2026, 2, 2, 1));
const orgsPerStatement = 500;

/**
 * Adds organizations up to a number: each with 100 hourly detections, which are due at one slot, a destination, a private pool and an empty
 * lane for each kind of run, and a dataset of 90 files. Turns automatic vacuuming off.
 */
export async function fillOrganizations(url: string, orgs: number): Promise<void> {
  await withClient(url, async (client) => {
    // The rows satisfy all references by construction.
    await client.query('set session_replication_role = replica; set synchronous_commit = off');
    // The vacuuming of what this function inserts would count for what is measured afterwards.
    await client.query('alter system set autovacuum = off');
    await client.query('select pg_reload_conf()');
    const { rows } = await client.query<{ n: number }>(
      `select count(*)::int as n from organizations where name like 'scale %'`,
    );
    for (let from = rows[0]!.n; from < orgs; from += orgsPerStatement)
      await client.query(insertOrganizations(from + 1, Math.min(from + orgsPerStatement, orgs)));
  });
  await tidyUp(url);
}

/** Leaves the server nothing to vacuum or to write, so that it does not do that while something else is measured. */
export const tidyUp = (url: string): Promise<void> =>
  withClient(url, async (client) => {
    await client.query('vacuum analyze');
    await client.query('checkpoint');
  });

const insertOrganizations = (first: number, last: number): string => `
  create temporary table if not exists added (id uuid);
  truncate added;
  insert into added select gen_random_uuid() from generate_series(${first}, ${last});
  insert into organizations (id, name) select id, 'scale ' || id from added;
  insert into agents (organization_id, id, agent_type, name, trigger_id, detection_category, detection_query, created_at, updated_at)
    select id, gen_random_uuid(), 'detection', 'd', gen_random_uuid(), 'custom', 'select 1', now(), now()
    from added, generate_series(1, ${detectionsPerOrg});
  insert into schedules (organization_id, detection_id, cron, active, next_slot_at, coverage_from, boundary_at)
    select organization_id, a.id, '0 * * * *', true, '${slot.toISOString()}', '2026-03-02T00:00:00Z', '2026-03-02T00:00:00Z'
    from agents a join added on added.id = a.organization_id;
  insert into lanes (organization_id, kind) select id, kind from added, unnest('{schedule,manual,backfill}'::text[]) kind;
  insert into datasets (organization_id, name, created_at) select id, 'auth', now() from added;
  insert into segments (organization_id, id, dataset, path, format, published, ingested_from, ingested_to, time_from, time_to, rows, bytes, created_at)
    select id, gen_random_uuid(), 'auth', 'dataset=auth/file', 'typed', true, at, at + interval '1 day', at, at + interval '1 day', 400000, 80000000, at
    from added, generate_series(now() - interval '89 days', now(), interval '1 day') at;
  insert into feed_pools (id, organization_id, kind) select gen_random_uuid(), id, 'private' from added;
  insert into feed_sweeps (organization_id, connection_id, due_at) select id, id, now() + interval '1 day' from added;
  insert into destinations (organization_id, id, kind, name, shown_url, sealed, event_types, created_at, updated_at)
    select id, gen_random_uuid(), 'webhook', 'o', '', '', '{}', now(), now() from added`;

/**
 * Queues a run for detections of organizations, at most `perOrg` each, of at most `orgs` organizations. Those of all but the first `dueIn`
 * organizations start a minute after the slot.
 */
export async function queueRuns(
  url: string,
  { orgs, perOrg, dueIn = orgs }: { orgs: number; perOrg: number; dueIn?: number },
): Promise<void> {
  await withClient(url, async (client) => {
    await client.query('set session_replication_role = replica; set synchronous_commit = off');
    await client.query(`
      truncate run_queue;
      insert into run_queue (organization_id, run_id, detection_id, kind, due_at, start_at)
        select o.id, gen_random_uuid(), a.id, 'schedule', '${slot.toISOString()}',
          '${slot.toISOString()}'::timestamptz + case when o.place > ${dueIn} then interval '1 minute' else interval '0' end
        from (
          select id, row_number() over (order by id) as place from organizations where name like 'scale %' order by id limit ${orgs}
        ) o cross join lateral (select id from agents where organization_id = o.id limit ${perOrg}) a;
      analyze run_queue`);
  });
}
