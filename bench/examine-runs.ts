import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { createDetection } from '../src/detection/detections/create-detection.ts';
import { CreateDetection } from '../src/detection/detections/record/detection-input.schema.ts';
import { receiveLogs } from '../src/detection/log-ingest/receive-logs.ts';
import { executeDueRuns } from '../src/detection/runs/workers/run-loops.ts';
import { operatorOf } from '../src/platform/http/caller.ts';
import type { OrgId } from '../src/platform/lib/org-id.ts';
import { createOrganizationWithKey } from '../test/support/api-client.ts';
import { withClient, withInProcessProgram, type InProcessProgram } from '../test/support/program-environment.ts';
import { measureInTurn, measureMs, type Benchmark, type BenchmarkRow } from './benchmark.ts';
import { readProcessorTime, type ProcessorTime } from './processor-time.ts';

const [runsPerSlot, eventsPerHour, workers] = [2_000, 200, 4];
const start = Date.UTC(2026, 2, 2);
const hourMs = 3_600_000;
let now = new Date(start);
let hours = 0;

/** Creates organizations with `runsPerSlot` hourly detections in total, whose queries differ and find nothing. */
async function createOrganizations({ deps }: InProcessProgram, count: number): Promise<OrgId[]> {
  const orgs: OrgId[] = [];
  for (let n = 0; n < count; n += 1) {
    const { id: orgId } = await createOrganizationWithKey(deps, `runs ${count} ${n}`);
    orgs.push(orgId);
    const inputs = Array.from({ length: runsPerSlot / count }, (_, d) =>
      CreateDetection.parse({
        name: `Detection ${d}`,
        detectionCategory: 'custom',
        detectionCadence: 'hourly',
        systemPrompt: 'Judge it.',
        entityField: 'user',
        detectionQuery: `SELECT _id, _time, "user", action FROM auth WHERE action = 'action ${n} ${d}' AND outcome = 'denied'`,
      }),
    );
    await Promise.all(inputs.map((input) => createDetection(deps, operatorOf(orgId), input)));
  }
  return orgs;
}

/** Sends each organization an hour of events, none of which a query finds. */
async function sendEvents({ deps }: InProcessProgram, orgs: readonly OrgId[]): Promise<void> {
  const lines = Array.from({ length: eventsPerHour }, (_, n) =>
    JSON.stringify({ timestamp: now, user: `user${n % 50}`, action: `action ${n}`, outcome: 'success' }),
  );
  for (const orgId of orgs) await receiveLogs(deps, orgId, { dataset: 'auth', body: Buffer.from(lines.join('\n')) });
}

/** Lets the next slot become due and executes it. Returns its runs per second, from when they are due until they are stored. */
async function executeSlot(program: InProcessProgram): Promise<number> {
  hours += 1;
  now = new Date(start + hours * hourMs);
  const ms = await measureMs(() => executeDueRuns(program.deps, now, { concurrency: workers }));
  await checkCompleted(program);
  return runsPerSlot / (ms / 1000);
}

async function checkCompleted({ url }: InProcessProgram): Promise<void> {
  const { rows } = await withClient(url, (client) =>
    client.query<{ n: number }>(`select count(*)::int as n from runs where status = 'completed' and due_at = $1`, [
      now,
    ]),
  );
  if (rows[0]!.n !== runsPerSlot) throw new Error(`${rows[0]!.n} of ${runsPerSlot} runs completed.`);
}

/** Stops the detections of earlier measurements. */
const stopSchedules = ({ url }: InProcessProgram): Promise<unknown> =>
  withClient(url, (client) => client.query('update schedules set active = false'));

type Baseline = { name: string; perSecond: () => Promise<number>; stop: () => Promise<unknown> };

/** The part of pg-boss that moves jobs. */
type Boss = {
  start: () => Promise<unknown>;
  stop: (options: object) => Promise<unknown>;
  createQueue: (queue: string) => Promise<unknown>;
  insert: (jobs: object[]) => Promise<unknown>;
  fetch: (queue: string) => Promise<{ id: string }[]>;
  complete: (queue: string, id: string) => Promise<unknown>;
};

/** Moves empty jobs one by one with pg-boss if it is installed. */
async function createBaseline({ url }: InProcessProgram): Promise<Baseline> {
  const name = 'pg-boss';
  const boss = await import(name).then(
    (module: { default: new (url: string) => Boss }) => new module.default(url),
    () => undefined,
  );
  if (!boss) return createBareQueue(url);
  await boss.start();
  await boss.createQueue('empty');
  const perSecond = async (): Promise<number> => {
    const work = async (): Promise<void> => {
      for (;;) {
        const [job] = await boss.fetch('empty');
        if (!job) return;
        await boss.complete('empty', job.id);
      }
    };
    const ms = await measureMs(async () => {
      await boss.insert(Array.from({ length: runsPerSlot }, () => ({ name: 'empty' })));
      await Promise.all(Array.from({ length: workers }, work));
    });
    return runsPerSlot / (ms / 1000);
  };
  return { name, perSecond, stop: () => boss.stop({ graceful: false }) };
}

/** Moves empty jobs through a plain table, in a statement that claims one and a statement that completes it. */
async function createBareQueue(url: string): Promise<Baseline> {
  const pool = new pg.Pool({ connectionString: url, max: workers });
  pool.on('error', () => undefined);
  await pool.query(`create table bare_jobs (id uuid primary key, state text not null, start_at timestamptz not null default now(), worker uuid, done_at timestamptz);
    create index on bare_jobs (start_at, id) where state = 'queued'`);
  const perSecond = async (): Promise<number> => {
    const work = async (): Promise<void> => {
      for (;;) {
        const { rows } = await pool.query<{ id: string }>(
          `update bare_jobs set state = 'running', worker = $1 where id = (select id from bare_jobs where state = 'queued'
             order by start_at, id limit 1 for update skip locked) returning id`,
          [randomUUID()],
        );
        if (!rows[0]) return;
        await pool.query(`update bare_jobs set state = 'completed', done_at = now() where id = $1`, [rows[0].id]);
      }
    };
    const ms = await measureMs(async () => {
      await pool.query(
        `insert into bare_jobs select gen_random_uuid(), 'queued' from generate_series(1, ${runsPerSlot})`,
      );
      await Promise.all(Array.from({ length: workers }, work));
    });
    return runsPerSlot / (ms / 1000);
  };
  return { name: 'a plain table with SKIP LOCKED', perSecond, stop: () => pool.end() };
}

async function measure(program: InProcessProgram, report: (text: string) => void): Promise<BenchmarkRow[]> {
  const rows: BenchmarkRow[] = [];
  const baseline = await createBaseline(program);
  const addRow = async (label: string, orgs: readonly OrgId[], rounds: number): Promise<void> => {
    report(label);
    let processor: ProcessorTime = { program: 0, engines: 0, database: 0 };
    const tocsin = async (): Promise<number> => {
      await sendEvents(program, orgs);
      const before = await readProcessorTime(program.url);
      const perSecond = await executeSlot(program);
      const after = await readProcessorTime(program.url);
      report(`  ${Math.round(perSecond)} runs/s`);
      const parts = ['program', 'engines', 'database'] as const;
      processor = Object.fromEntries(parts.map((part) => [part, after[part] - before[part]])) as ProcessorTime;
      return perSecond;
    };
    const result = await measureInTurn(rounds, { tocsin, baseline: baseline.perSecond, better: 'more' });
    rows.push({ label: `${label} (baseline: empty jobs of ${baseline.name})`, unit: 'runs/s', ...result });
    for (const [part, ms] of Object.entries(processor))
      rows.push({ label: `${label}: processor time of ${partNames[part]!}`, unit: 'ms/run', tocsin: ms / runsPerSlot });
  };
  for (const count of [1, 200]) {
    report(`creating ${count} organizations`);
    now = new Date(start + hours * hourMs + 1000);
    const orgs = await createOrganizations(program, count);
    await sendEvents(program, orgs);
    const label = count === 1 ? '1 organization' : `${count} organizations`;
    // The engines of many organizations take minutes to start.
    if (count === 1) await executeSlot(program);
    else await addRow(`${label}, with events in their first slot`, orgs, 1);
    await addRow(`${label}, with events in the slot`, orgs, 3);
    await addRow(`${label}, without events in the slot`, [], 3);
    await stopSchedules(program);
  }
  await baseline.stop();
  return rows;
}

const partNames: Record<string, string> = {
  program: 'the process',
  engines: 'its query engines',
  database: 'PostgreSQL',
};

export const examineRunsBenchmark: Benchmark = {
  title: `Runs that find nothing: ${runsPerSlot} detections due at one slot`,
  note: 'Each detection has a query of its own. Runs count from when they are due until they are stored, jobs from when they are inserted until they are completed. In their first slot, each of the 200 organizations has to start its query engine, which finds out what columns the queries return. After that, an hour of few events needs no engine for a query whose texts are not in it. Baseline: pg-boss, if it is installed (`npm install --no-save pg-boss@10`), otherwise a plain table with SKIP LOCKED.',
  run: (report) =>
    withInProcessProgram(
      (program) => measure(program, report),
      () => now,
    ),
};
