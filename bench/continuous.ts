import { setTimeout as sleep } from 'node:timers/promises';
import { compareNext, createUnknownValues } from '../src/agents/sightings/arriving-sightings.ts';
import { openPositionsAcrossOrgs } from '../src/detection/continuous/match-positions.store.ts';
import { matchLoop, matchWaiting } from '../src/detection/continuous/match-loop.ts';
import { createDetection } from '../src/detection/detections/create-detection.ts';
import { receiveLogs } from '../src/detection/log-ingest/receive-logs.ts';
import { executeLoop } from '../src/detection/runs/workers/run-loops.ts';
import { importSigma } from '../src/detection/sigma/import-rules.ts';
import { operatorOf } from '../src/platform/http/caller.ts';
import { dataDir } from '../test/support/data.ts';
import { withClient, withInProcessProgram, type InProcessProgram } from '../test/support/program-environment.ts';
import { measureMs, type Benchmark, type BenchmarkRow } from './benchmark.ts';
import { readProcessorTime, type ProcessorTime } from './processor-time.ts';
import { readEvents, readRules } from './sigma-set.ts';

const [eventsMax, perBatch] = [250_000, 5_000];
const dataset = 'windows';
/** One batch in two has an event that matches one of these detections. */
const paced = { seconds: 60, everyMs: 500, events: 500, detections: 10 };

type Event = Record<string, unknown>;

async function send({ deps, orgId }: InProcessProgram, events: readonly Event[]): Promise<void> {
  const body = Buffer.from(events.map((event) => JSON.stringify(event)).join('\n'));
  await receiveLogs(deps, orgId, { dataset, body, timeField: '@timestamp' });
}

/** Seconds of wall time and of processors. */
type Cost = { seconds: number; processorSeconds: number };

async function measureCost({ url }: InProcessProgram, work: () => Promise<void>): Promise<Cost> {
  const before = await readProcessorTime(url);
  const ms = await measureMs(work);
  const after = await readProcessorTime(url);
  const sum = ({ program, engines, database }: ProcessorTime): number => program + engines + database;
  return { seconds: ms / 1000, processorSeconds: (sum(after) - sum(before)) / 1000 };
}

const indicatorsMax = 1_000_000;

/** Fills the index of the feed with active addresses, domains, links and hashes, none of which the events have. */
const addIndicators = (url: string): Promise<unknown> =>
  withClient(url, (client) =>
    client.query(`
      insert into item_terms (organization_id, item_id, pool_id, kind, value, address)
      select (select id from organizations limit 1), gen_random_uuid(), p.id, 'indicator', value, case when n % 5 < 2 then value::inet end
      from feed_pools p cross join (
        select n, case when n % 5 < 2 then '100.' || (n >> 16 & 255) || '.' || (n >> 8 & 255) || '.' || (n & 255)
          when n % 5 = 2 then md5(n::text) || '.example' when n % 5 = 3 then 'http://' || md5(n::text) || '.example/' || n
          else encode(sha256(n::text::bytea), 'hex') end as value
        from generate_series(1, ${indicatorsMax}) n) indicators
      where p.kind = 'public';
      analyze item_terms`),
  );

/** Compares what has arrived with the indicators of the feed. */
async function compareArrived({ deps }: InProcessProgram): Promise<void> {
  const unknown = createUnknownValues();
  await openPositionsAcrossOrgs(deps.db, 'indicators');
  while (await compareNext(deps, unknown, new AbortController().signal));
}

/** Matches a quarter of a million events that have arrived. Returns what it takes to store, match and compare them. */
async function measureThroughput(program: InProcessProgram, events: ReturnType<typeof readEvents>) {
  const eventAt = (n: number): Event => events.all[n] ?? events.quiet[n % events.quiet.length]!;
  await addIndicators(program.url);
  await compareArrived(program);
  const stored = await measureCost(program, async () => {
    for (let n = 0; n < eventsMax; n += perBatch) {
      const time = new Date().toISOString();
      await send(
        program,
        Array.from({ length: perBatch }, (_, i) => ({ ...eventAt(n + i), '@timestamp': time, Copy: n + i })),
      );
    }
  });
  const matched = await measureCost(program, () => matchWaiting(program.deps));
  const compared = await measureCost(program, () => compareArrived(program));
  return { stored, matched, compared };
}

const waitMsMax = 300_000;

/** Waits until a query has a number of rows. */
async function waitFor(url: string, query: string, rows: number): Promise<void> {
  const began = Date.now();
  const count = () => withClient(url, async (client) => (await client.query(query)).rowCount ?? 0);
  for (let found = await count(); found < rows; found = await count()) {
    if (Date.now() - began > waitMsMax) throw new Error(`${found} of ${rows} rows: ${query}`);
    await sleep(250);
  }
}

/** Sends a batch twice a second while the matcher and the runs work. Returns the milliseconds from each response to the stored candidate. */
async function measureLatency(program: InProcessProgram, quiet: readonly Event[]): Promise<number[]> {
  const { deps, orgId, url } = program;
  for (let digit = 0; digit < paced.detections; digit += 1)
    await createDetection(deps, operatorOf(orgId), {
      name: `marked ${digit}`,
      detectionCategory: 'custom' as const,
      systemPrompt: 'p',
      detectionQuery: `SELECT _id, _time, Mark AS mark FROM ${dataset} WHERE Mark LIKE 'mark-%${digit}'`,
      detectionCadence: 'hourly' as const,
      entityField: 'mark',
      continuous: true,
    });
  const stopped = new AbortController();
  const loops = [matchLoop(deps, stopped.signal), executeLoop(deps, stopped.signal)];
  await waitFor(
    url,
    "select from continuous_detections join agents on id = detection_id where name like 'marked %'",
    paced.detections,
  );
  const sent = new Map<string, number>();
  for (let n = 0; n < (paced.seconds * 1000) / paced.everyMs; n += 1) {
    const time = new Date().toISOString();
    const events = Array.from({ length: paced.events }, (_, i) => ({
      ...quiet[i % quiet.length]!,
      '@timestamp': time,
      Copy: `${n}-${i}`,
    }));
    const mark = n % 2 === 0 ? `mark-${n / 2}` : undefined;
    await send(program, mark === undefined ? events : [...events, { '@timestamp': time, Mark: mark }]);
    if (mark !== undefined) sent.set(mark, Date.now());
    await sleep(paced.everyMs);
  }
  await waitFor(url, "select from candidates where entity like 'mark-%'", sent.size);
  stopped.abort();
  await Promise.all(loops);
  return withClient(url, async (client) => {
    const { rows } = await client.query<{ entity: string; at: Date }>(
      "select entity, created_at as at from candidates where entity like 'mark-%'",
    );
    return rows.map(({ entity, at }) => Math.max(0, at.getTime() - sent.get(entity)!)).toSorted((a, b) => a - b);
  });
}

async function measure(program: InProcessProgram, report: (text: string) => void): Promise<BenchmarkRow[]> {
  const data = dataDir();
  if (!data) throw new Error('The recorded inputs are missing. Set TOCSIN_TEST_DATA to their folder.');
  report('importing the rules');
  const rules = readRules(data);
  const events = readEvents(
    data,
    rules.filter(({ ruleQuery }) => ruleQuery.table === dataset),
  );
  await send(program, [{ '@timestamp': new Date().toISOString(), Copy: 'first' }]);
  const yaml = rules.map((rule) => rule.yaml).join('\n---\n');
  await importSigma(program.deps, operatorOf(program.orgId), { rules: yaml, enable: true });
  report('checking the rules');
  const checkMs = await measureMs(() => matchWaiting(program.deps));
  report('matching');
  const { stored, matched, compared } = await measureThroughput(program, events);
  const { seconds, processorSeconds } = matched;
  const shareOf = (cost: Cost): number => (100 * cost.processorSeconds) / stored.processorSeconds;
  report(
    `${Math.round(eventsMax / seconds)} events/s, ${Math.round(eventsMax / processorSeconds)} per core; measuring the latency`,
  );
  const latencies = await measureLatency(program, events.quiet);
  const at = (share: number): number =>
    latencies[Math.min(latencies.length - 1, Math.floor(share * latencies.length))]!;
  return [
    { label: `${rules.length} detections checked, once`, unit: 's', tocsin: checkMs / 1000 },
    { label: `events matched, in batches of ${perBatch}`, unit: 'events/s', tocsin: eventsMax / seconds },
    { label: 'the same per core', unit: 'events/s', tocsin: eventsMax / processorSeconds },
    { label: 'events stored, per core', unit: 'events/s', tocsin: eventsMax / stored.processorSeconds },
    { label: 'processor time of matching beside that of storing', unit: '%', tocsin: shareOf(matched) },
    {
      label: `the same of comparing with ${indicatorsMax.toLocaleString('en')} indicators`,
      unit: '%',
      tocsin: shareOf(compared),
    },
    { label: 'from the response to the candidate, median', unit: 'ms', tocsin: at(0.5) },
    { label: 'the same, 99th percentile', unit: 'ms', tocsin: at(0.99) },
  ];
}

export const continuousBenchmark: Benchmark = {
  title: `All recorded Sigma rules as continuous detections on ${eventsMax} Windows events`,
  note: `The latency is measured with ${(1000 / paced.everyMs) * paced.events} events a second, of which one matches one of ${paced.detections} detections in turn.`,
  run: (report) =>
    withInProcessProgram((program) => measure(program, report), undefined, { TOCSIN_CONTINUOUS_PER_MINUTE: '10000' }),
};
