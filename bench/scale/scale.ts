import { withClient, withInProcessProgram, type InProcessProgram } from '../../test/support/program-environment.ts';
import type { Benchmark, BenchmarkRow, RunOptions } from '../benchmark.ts';
import { costLabels, measureDatabaseCosts, type DatabaseCosts } from './database-costs.ts';
import { detectionsPerOrg, fillOrganizations, segmentsPerOrg, tidyUp } from './fill-organizations.ts';
import { measureEngineStart } from './engine-start.ts';
import { measureSampleHour, sampleClock, sampleDetections, type SampleHour, type Work } from './sample-hour.ts';

const fewOrgs = 10;
const sampleOrgs = 2;
/** The load for which docs/operate/scale.md describes the set-up. */
const target = { runsPerSecond: 1_000_000 / 3600, mbPerSecond: 1_000_000 / 86_400 };

async function measure(
  program: InProcessProgram,
  orgs: number,
  report: (text: string) => void,
): Promise<BenchmarkRow[]> {
  report(`${fewOrgs} organizations`);
  await fillOrganizations(program.url, fewOrgs);
  const few = await measureDatabaseCosts(program, fewOrgs);
  const sizes: [number, DatabaseCosts][] = [];
  for (const size of [1_000, orgs].filter((n, index, all) => all.indexOf(n) === index)) {
    report(`${size.toLocaleString('en')} organizations`);
    await fillOrganizations(program.url, size);
    sizes.push([size, await measureDatabaseCosts(program, size)]);
  }
  const bytes = await readDatabaseBytes(program.url);
  await tidyUp(program.url);
  report(`an hour of ${sampleOrgs} more organizations`);
  const hour = await measureSampleHour(program, sampleOrgs);
  const engineMs = await measureEngineStart();
  return [
    ...sizes.flatMap(([size, costs]) => toCostRows(size, costs, few)),
    {
      label: `size of the database with ${orgs.toLocaleString('en')} organizations, each with ${detectionsPerOrg} detections and ${segmentsPerOrg} log files`,
      unit: 'MiB',
      tocsin: bytes / 2 ** 20,
    },
    ...toWorkRows(hour),
    { label: 'start of the query engine of an organization: processor time', unit: 'ms', tocsin: engineMs },
    ...toCoreRows(hour, engineMs),
  ];
}

const toCostRows = (orgs: number, costs: DatabaseCosts, few: DatabaseCosts): BenchmarkRow[] =>
  (Object.keys(costLabels) as (keyof DatabaseCosts)[]).map((name) => ({
    label: `${orgs.toLocaleString('en')} organizations: ${costLabels[name]}`,
    unit: 'ms',
    tocsin: costs[name],
    baseline: few[name],
    share: few[name] / costs[name],
  }));

const parts = { program: 'the process', engines: 'its query engines', database: 'PostgreSQL' } as const;
const partNames = Object.keys(parts) as (keyof typeof parts)[];

/** Milliseconds of processor time for each megabyte or run. */
const costOf = (work: Work, part: keyof typeof parts, unitsPerWork = 1): number =>
  (work.processor[part] / work.units) * unitsPerWork;

const toWorkRows = ({ ingest, compaction, runs }: SampleHour): BenchmarkRow[] => {
  const rows = (label: string, work: Work, scale: number, unit: string): BenchmarkRow[] =>
    partNames.map((part) => ({
      label: `${label}: processor time of ${parts[part]}`,
      unit,
      tocsin: costOf(work, part, scale),
    }));
  return [
    ...rows('an hour of logs received, a request of 70 kB each minute', ingest, 1e6, 'ms/MB'),
    ...rows('the same merged into larger files', compaction, 1e6, 'ms/MB'),
    ...rows('a run of a detection over that hour', runs, 1, 'ms/run'),
  ];
};

/** Processor cores that a million hourly runs and 1 TB of logs a day keep busy, if the costs of the sample hold. */
const toCoreRows = ({ ingest, compaction, runs }: SampleHour, engineMs: number): BenchmarkRow[] => {
  const coresOf = (...names: (keyof typeof parts)[]): number =>
    names.reduce(
      (sum, part) =>
        sum +
        (costOf(runs, part) * target.runsPerSecond +
          (costOf(ingest, part, 1e6) + costOf(compaction, part, 1e6)) * target.mbPerSecond) /
          1000,
      0,
    );
  const processes = coresOf('program', 'engines');
  const label = 'a million hourly runs and 1 TB of logs a day';
  return [
    { label: `${label}: processes and query engines`, unit: 'cores', tocsin: processes },
    {
      label: `${label}: the same if every run starts a query engine`,
      unit: 'cores',
      tocsin: processes + (engineMs * target.runsPerSecond) / 1000,
    },
    { label: `${label}: PostgreSQL`, unit: 'cores', tocsin: coresOf('database') },
  ];
};

const readDatabaseBytes = (url: string): Promise<number> =>
  withClient(url, async (client) => {
    const { rows } = await client.query<{ bytes: string }>('select pg_database_size(current_database()) as bytes');
    return Number(rows[0]!.bytes);
  });

export const scaleBenchmark: Benchmark = {
  title: 'Costs of an installation with many organizations (baseline: the same with ten organizations)',
  note: `Each organization has ${detectionsPerOrg} hourly detections, due at the same slot. \`npm run bench -- scale --full\` has 10,000 organizations and a million detections, without \`--full\` 1,000.\n\nThe hour of logs is that of ${sampleOrgs} more organizations which send what each of 10,000 sends if all of them send 1 TB a day, and ${sampleDetections} detections of each examine it. Cores are such costs of the sample times the rates, not a run of the whole.`,
  run: (report, { isFull }: RunOptions) =>
    withInProcessProgram((program) => measure(program, isFull ? 10_000 : 1_000, report), sampleClock),
};
