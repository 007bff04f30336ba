import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { claimRunsAcrossOrgs } from '../src/detection/scheduling/claim-runs.store.ts';
import { enqueueDueRunsAcrossOrgs } from '../src/detection/scheduling/enqueue-runs.ts';
import type { Places } from '../src/detection/scheduling/concurrency-limits.ts';
import { alternate, median, timed, type Figure } from './figure.ts';
import { withDeps, type Inside } from './place.ts';

const [orgs, perOrg, rounds, claimers, perClaim] = [50, 1000, 5, 4, 8];
const claimsPerRound = 4000;
const slot = new Date(Date.UTC(2026, 2, 2, 1));

/** Organizations with hourly detections, all due at one slot; every other one is judged by a model. */
async function fill({ url }: Inside): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`
    insert into organizations (id, name) select gen_random_uuid(), 'bench ' || n from generate_series(1, ${orgs}) n;
    insert into agents (organization_id, id, agent_type, name, trigger_id, detection_category, detection_query, created_at, updated_at, model_alias)
      select o.id, gen_random_uuid(), 'detection', 'd', gen_random_uuid(), 'custom', 'select 1', now(), now(), case when n % 2 = 0 then 'quick' else 'analyst' end
      from organizations o, generate_series(1, ${perOrg}) n where o.name like 'bench %';
    insert into schedules (organization_id, detection_id, cron, active, next_slot_at, coverage_from, boundary_at)
      select organization_id, id, '0 * * * *', true, '${slot.toISOString()}', '2026-03-02T00:00:00Z', '2026-03-02T00:00:00Z' from agents where agent_type = 'detection' and detection_query = 'select 1';
    analyze`);
  await client.end();
}

async function enqueueAll({ db }: Inside): Promise<number> {
  let queued = 0;
  const ms = await timed(async () => {
    for (let more = true; more;) {
      const pass = await enqueueDueRunsAcrossOrgs(db, { now: slot, spreadMs: 0, limit: 500 });
      queued += pass.queued;
      more = pass.more;
    }
  });
  return queued / (ms / 1000);
}

/** Claims as workers do, several at a time. */
async function claimMany({ db, url }: Inside, places: Places = {}): Promise<number> {
  return perSecond(url, 'run_queue', 'run_id', async () =>
    (await claimRunsAcrossOrgs(db, slot, perClaim, places)).map(({ runId }) => runId),
  );
}

/** The least that a queue can be: one table, claims by skip locked, the same number at a time, and the same removal. */
async function claimBare({ url }: Inside): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(
    'create unlogged table if not exists bare_queue (id uuid primary key, state text not null, start_at timestamptz not null, lease_until timestamptz, worker uuid)',
  );
  await client.query('alter table bare_queue set logged');
  await client.query(`truncate bare_queue; insert into bare_queue select gen_random_uuid(), 'queued', now() from generate_series(1, ${orgs * perOrg});
    create index if not exists bare_claim on bare_queue (start_at, id) where state = 'queued'; analyze bare_queue`);
  await client.end();
  return perSecond(url, 'bare_queue', 'id', async (pool) => {
    const { rows } = await pool.query<{ id: string }>(
      `update bare_queue set state = 'running', lease_until = clock_timestamp() + interval '1 minute', worker = $1
       where id in (select id from bare_queue where state = 'queued' order by start_at, id limit ${perClaim} for update skip locked) returning id`,
      [randomUUID()],
    );
    return rows.map(({ id }) => id);
  });
}

/** Claims by several claimers at once. What is claimed leaves the queue at once, since lanes have room for few, and by the same statement on both sides. */
async function perSecond(
  url: string,
  table: string,
  key: string,
  claim: (pool: pg.Pool) => Promise<string[]>,
): Promise<number> {
  const pool = new pg.Pool({ connectionString: url, max: claimers });
  // The pool does not wait for its connections to close, and the server may go first.
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
  const ms = await timed(() => Promise.all(Array.from({ length: claimers }, work)));
  await pool.end();
  return claimed / (ms / 1000);
}

export const claims: Figure = {
  title: `Due agents: ${orgs * perOrg} due at one slot in ${orgs} organizations`,
  run: (say) =>
    withDeps(async (inside) => {
      say('filling');
      await fill(inside);
      say('queueing');
      const queued = await enqueueAll(inside);
      say('claiming');
      const found = await alternate(rounds, {
        ours: () => claimMany(inside),
        bare: () => claimBare(inside),
        better: 'more',
      });
      say('claiming with models');
      const modelled: number[] = [];
      for (let round = 0; round < rounds; round += 1) modelled.push(await claimMany(inside, { quick: 1000 }));
      return [
        { what: 'slots turned into queued runs', unit: 'runs/s', ours: queued },
        {
          what: `claimed, ${claimers} workers, ${perClaim} at a time; bare: a plain table with skip locked`,
          unit: 'runs/s',
          ...found,
        },
        {
          what: 'the same with models, whose places all claimers share: half of the runs have one',
          unit: 'runs/s',
          ours: median(modelled),
        },
      ];
    }),
};
