import { randomUUID } from 'node:crypto';
import { listKnownForms } from '../../src/agents/sightings/sightings.store.ts';
import type { Expression } from '../../src/detection/matching/expression.ts';
import { createFieldRow } from '../../src/detection/matching/compile-expression.ts';
import { compileRuleSet } from '../../src/detection/matching/rule-set.ts';
import { claimPlacesAcrossOrgs } from '../../src/detection/scheduling/claim-runs.store.ts';
import { enqueueDueRunsAcrossOrgs } from '../../src/detection/scheduling/enqueue-runs.ts';
import { inOrg } from '../../src/platform/db/db.ts';
import { withClient, withInProcessProgram, type InProcessProgram } from '../../test/support/program-environment.ts';
import { measureMs, median, type Benchmark, type BenchmarkRow } from '../benchmark.ts';
import { fillOrganizations, slot, tidyUp } from '../scale/fill-organizations.ts';
import { drawCurves } from './draw-curves.ts';

const [warmUps, rounds] = [5, 15];
const valuesLookedUp = 1_000;
const eventsMatched = 1_000;
const unit = 'ms';

const labels = {
  indicators: `${valuesLookedUp.toLocaleString('en')} values looked up`,
  detections: `${eventsMatched.toLocaleString('en')} events matched`,
  organizations: 'idle scheduler',
};
type Kind = keyof typeof labels;
type Point = { kind: Kind; size: number; cost: number };

const medianMs = async (work: () => Promise<unknown>): Promise<number> => {
  for (let round = 0; round < warmUps; round += 1) await work();
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) times.push(await measureMs(work));
  return median(times);
};

/** Returns a name whose order is not that of its number. */
const hostName = (n: number): string => `host-${((BigInt(n) * 2_654_435_761n) % 2n ** 32n).toString(16)}-${n}.example`;

/** Adds indicators to a pool of the organization, and looks up values of which one in a hundred is listed. */
async function measureIndicators({ url, deps, orgId }: InProcessProgram, sizes: number[]): Promise<Point[]> {
  const points: Point[] = [];
  const pool = randomUUID();
  await withClient(url, async (client) => {
    // The rows satisfy all references by construction.
    await client.query('set session_replication_role = replica; set synchronous_commit = off');
    await client.query(
      `insert into feed_pools (id, organization_id, kind) values ('${pool}', '${orgId}', 'private') on conflict do nothing`,
    );
    let filled = 0;
    for (const size of sizes) {
      await client.query(
        `insert into item_terms (organization_id, pool_id, item_id, kind, value)
          select '${orgId}', (select id from feed_pools where organization_id = '${orgId}' and kind = 'private'), gen_random_uuid(), 'indicator',
            'host-' || to_hex(n::bigint * 2654435761 % 4294967296) || '-' || n || '.example' from generate_series(${filled + 1}, ${size}) n`,
      );
      filled = size;
      await client.query('vacuum analyze item_terms');
      const terms = Array.from({ length: valuesLookedUp }, (_, n) => {
        const number = 1 + Math.floor((n * size) / valuesLookedUp);
        return hostName(n % 100 === 0 ? number : size + number);
      });
      const lookUp = () => inOrg(deps.db, orgId, (tx) => listKnownForms(tx, { terms, urlStarts: [] }, new Date()));
      const found = await lookUp();
      if (found.size !== valuesLookedUp / 100) throw new Error(`${found.size} values were found.`);
      points.push({ kind: 'indicators', size, cost: await medianMs(lookUp) });
    }
  });
  return points;
}

/** Matches events of short commands with conditions that each require a text of their own. */
async function measureDetections(sizes: number[]): Promise<Point[]> {
  let events = 0;
  // Other events each time, because a set remembers values that it has seen.
  const createRow = () => {
    events += 1;
    const text = `C:\\Windows\\System32\\tool${events}.exe -flag ${events} --host ${hostName(events)}`;
    return createFieldRow(() => text);
  };
  const points: Point[] = [];
  for (const size of sizes) {
    const conditions = Array.from({ length: size }, (_, n): Expression => ({
      kind: 'match',
      field: '0',
      test: {
        kind: 'text',
        pattern: [{ wildcard: '*' }, { text: `bad-${hostName(n)}` }, { wildcard: '*' }],
        cased: false,
      },
    }));
    const set = compileRuleSet(conditions, Number);
    const cost = await medianMs(() =>
      Promise.resolve(Array.from({ length: eventsMatched }, () => set.match(createRow()))),
    );
    points.push({ kind: 'detections', size, cost });
  }
  return points;
}

/** Measures what a scheduler repeats while nothing is due. */
async function measureOrganizations({ url, deps }: InProcessProgram, sizes: number[]): Promise<Point[]> {
  const now = new Date(slot.getTime() - 1);
  const points: Point[] = [];
  for (const size of sizes) {
    await fillOrganizations(url, size);
    const cost = await medianMs(async () => {
      await enqueueDueRunsAcrossOrgs(deps.db, { now, spreadMs: 0, limit: 500 });
      await claimPlacesAcrossOrgs(deps.db, now, { limit: 8, batchMax: 100 });
    });
    points.push({ kind: 'organizations', size, cost });
  }
  await tidyUp(url);
  return points;
}

const toRow = ({ kind, size, cost }: Point): BenchmarkRow => ({
  label: `${size.toLocaleString('en')} ${kind === 'detections' ? 'continuous detections' : kind}: ${labels[kind]}`,
  unit,
  tocsin: cost,
});

export const growthBenchmark: Benchmark = {
  title: 'Growth: indicators, continuous detections, organizations',
  note: `![Three curves of milliseconds by size, on logarithmic axes](growth.svg)

- **Indicators**: each looked-up value is one descent of a B-tree, whose depth grows by one for some hundred times the indicators. What is added is reading pages that are not in the cache of PostgreSQL. \`--full\` adds 10 million. In a feed of 10 million items, looking up an indicator takes 1.6 times as long as with a million (*A large feed*).
- **Continuous detections**: the texts that conditions require are one automaton per field, and a pass over a value takes as long for ten as for ten thousand texts. What grows is the memory of the automaton, which leaves the caches of the processor. Conditions without a required text are evaluated one by one, and named as expensive.
- **Organizations**: a scheduler finds due slots and queued runs by indexes over all organizations, so that those that have nothing to do cost nothing. Each has 100 detections.

Where a larger size costs less than a smaller one, other work on the machine made the difference: each figure takes less than a second to measure.`,
  draw: (rows) => ({
    file: 'growth.svg',
    svg: drawCurves(
      (Object.keys(labels) as Kind[]).map((kind) => ({
        name: labels[kind],
        points: rows
          .filter(({ label }) => label.endsWith(labels[kind]))
          .map(({ label, tocsin }) => ({ size: Number(label.split(' ')[0]!.replaceAll(',', '')), cost: tocsin })),
      })),
      { xTitle: 'indicators, continuous detections or organizations', yTitle: unit },
    ),
  }),
  run: (report, { isFull }) =>
    withInProcessProgram(
      async (program) => {
        report('continuous detections');
        const conditions = [10, 100, 1_000, 10_000];
        // The first time, the engine of JavaScript is still compiling.
        await measureDetections(conditions);
        const detections = await measureDetections(conditions);
        report('indicators');
        const indicators = await measureIndicators(program, [
          10_000,
          100_000,
          1_000_000,
          ...(isFull ? [10_000_000] : []),
        ]);
        report('organizations');
        const organizations = await measureOrganizations(program, [1, 10, 100, 1_000]);
        return [...indicators, ...detections, ...organizations].map(toRow);
      },
      () => slot,
    ),
};
