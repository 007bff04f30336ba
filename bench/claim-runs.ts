import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { claimJudgingAcrossOrgs, claimRunsAcrossOrgs } from '../src/detection/scheduling/claim-runs.store.ts';
import { enqueueDueRunsAcrossOrgs } from '../src/detection/scheduling/enqueue-runs.ts';
import { measureInTurn, median, measureMs, type Benchmark } from './benchmark.ts';
import { withClient, withInProcessProgram, type InProcessProgram } from '../test/support/program-environment.ts';

const [orgs, perOrg, rounds, claimers, perClaim] = [50, 1000, 5, 4, 8];
const claimsPerRound = 4000;
const slot = new Date(Date.UTC(2026, 2, 2, 1));

/** Inserts organizations with hourly detections that are all due at one slot. */
async function fill({ url }: InProcessProgram): Promise<void> {
  await withClient(url, (client) =>
    client.query(`
    insert into organizations (id, name) select gen_random_uuid(), 'bench ' || n from generate_series(1, ${orgs}) n;
    insert into agents (organization_id, id, agent_type, name, trigger_id, detection_category, detection_query, created_at, updated_at)
      select o.id, gen_random_uuid(), 'detection', 'd', gen_random_uuid(), 'custom', 'select 1', now(), now()
      from organizations o, generate_series(1, ${perOrg}) n where o.name like 'bench %';
    insert into schedules (organization_id, detection_id, cron, active, next_slot_at, coverage_from, boundary_at)
      select organization_id, id, '0 * * * *', true, '${slot.toISOString()}', '2026-03-02T00:00:00Z', '2026-03-02T00:00:00Z' from agents where agent_type = 'detection' and detection_query = 'select 1';
    analyze`),
  );
}

async function enqueueAll({ db }: InProcessProgram): Promise<number> {
  let queued = 0;
  const ms = await measureMs(async () => {
    for (let more = true; more;) {
      const pass = await enqueueDueRunsAcrossOrgs(db, { now: slot, spreadMs: 0, limit: 500 });
      queued += pass.queued;
      more = pass.more;
    }
  });
  return queued / (ms / 1000);
}

/** Claims runs to examine like the workers do, several at a time. */
const claimToExamine = ({ db, url }: InProcessProgram): Promise<number> =>
  perSecond(url, 'run_queue', 'run_id', async () =>
    (await claimRunsAcrossOrgs(db, slot, perClaim)).map(({ runId }) => runId),
  );

/** Hands over the runs that are left, half of them to each of two models. */
const handOverAll = ({ url }: InProcessProgram): Promise<unknown> =>
  withClient(url, (client) =>
    client.query(`
    update run_queue set model_alias = case when right(run_id::text, 1) < '8' then 'quick' else 'other' end, begun = true;
    insert into lanes (organization_id, kind, model_alias, cap) select distinct organization_id, kind, model_alias, 1000 from run_queue;
    analyze run_queue`),
  );

/** Claims runs that models judge, whose places all claimers share. */
const claimToJudge = ({ db, url }: InProcessProgram): Promise<number> =>
  perSecond(url, 'run_queue', 'run_id', async () =>
    (await claimJudgingAcrossOrgs(db, slot, perClaim, { quick: 1000, other: 1000 })).map(({ runId }) => runId),
  );

/** Claims from a minimal queue: one table with SKIP LOCKED, the same batch size, and the same deletion. */
async function claimBare({ url }: InProcessProgram): Promise<number> {
  await withClient(url, (client) =>
    client.query(`
    create table if not exists bare_queue (id uuid primary key, state text not null, start_at timestamptz not null, lease_until timestamptz, worker uuid);
    truncate bare_queue;
    insert into bare_queue select gen_random_uuid(), 'queued', now() from generate_series(1, ${orgs * perOrg});
    create index if not exists bare_claim on bare_queue (start_at, id) where state = 'queued';
    analyze bare_queue`),
  );
  return perSecond(url, 'bare_queue', 'id', async (pool) => {
    const { rows } = await pool.query<{ id: string }>(
      `update bare_queue set state = 'running', lease_until = clock_timestamp() + interval '1 minute', worker = $1
       where id in (select id from bare_queue where state = 'queued' order by start_at, id limit ${perClaim} for update skip locked) returning id`,
      [randomUUID()],
    );
    return rows.map(({ id }) => id);
  });
}

/**
 * Measures claims per second with several concurrent claimers. Both sides delete claimed entries immediately with the same statement, because an
 * organization can only run a few at a time.
 */
async function perSecond(
  url: string,
  table: string,
  key: string,
  claim: (pool: pg.Pool) => Promise<string[]>,
): Promise<number> {
  const pool = new pg.Pool({ connectionString: url, max: claimers });
  // The pool does not wait for its connections to close, so the server can stop first.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  let claimed = 0;
  const work = async (): Promise<void> => {
    while (claimed < claimsPerRound) {
      const ids = await claim(pool);
      claimed += ids.length;
      await pool.query(`delete from ${table} where ${key} = any($1)`, [ids]);
    }
  };
  const ms = await measureMs(() => Promise.all(Array.from({ length: claimers }, work)));
  await pool.end();
  return claimed / (ms / 1000);
}

export const claimRunsBenchmark: Benchmark = {
  title: `Scheduling: ${orgs * perOrg} detections due at one slot in ${orgs} organizations`,
  run: (report) =>
    withInProcessProgram(async (program) => {
      report('filling');
      await fill(program);
      report('enqueueing');
      const queued = await enqueueAll(program);
      report('claiming');
      const result = await measureInTurn(rounds, {
        tocsin: () => claimToExamine(program),
        baseline: () => claimBare(program),
        better: 'more',
      });
      report('claiming for models');
      await handOverAll(program);
      const judgeRates: number[] = [];
      for (let round = 0; round < rounds; round += 1) judgeRates.push(await claimToJudge(program));
      return [
        { label: 'due slots enqueued as runs', unit: 'runs/s', tocsin: queued },
        {
          label: `runs claimed by ${claimers} workers, ${perClaim} at a time (baseline: a plain table with SKIP LOCKED)`,
          unit: 'runs/s',
          ...result,
        },
        {
          label: 'runs claimed to be judged by two models, each with a limit that all claimers share',
          unit: 'runs/s',
          tocsin: median(judgeRates),
        },
      ];
    }),
  note: 'A queued run is four rows in ten indexes: its slot moves, its window is planned, and the run and its place in the queue are written. It takes 0.15 ms of processor time in PostgreSQL and 0.06 ms in the service, so that 15,000 a second would take three cores. A fifth to a third of it is the foreign key to the detection, without which a run could be added to an organization that is being erased. A claim also finds the organization that was served longest ago, counts the places that are taken, and passes detections and connections that are busy. It takes runs of one organization, the baseline any eight.',
};
