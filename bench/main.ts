import { readFile, writeFile } from 'node:fs/promises';
import { cpus, totalmem } from 'node:os';
import { join, resolve } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { sql } from 'kysely';
import { parseOptions, toCount } from '../test/support/parse-options.ts';
import { root } from '../test/support/program.ts';
import { claimRunsBenchmark } from './claim-runs.ts';
import { consoleBenchmark } from './console/console.ts';
import { continuousBenchmark } from './continuous.ts';
import { createDetectionBenchmark } from './create-detection.ts';
import { extractReportsBenchmark } from './extract-reports.ts';
import { feedLargeBenchmark, feedMillionBenchmark } from './feed-million/feed-million.ts';
import type { Benchmark, BenchmarkRow, RunOptions } from './benchmark.ts';
import { examineRunsBenchmark } from './examine-runs.ts';
import { investigateBenchmark } from './investigate.ts';
import { growthBenchmark } from './growth/growth.ts';
import { footprintBenchmark } from './footprint.ts';
import { objectStorageBenchmark } from './object-storage.ts';
import { otherOrganizationsBenchmark } from './other-organizations.ts';
import { placeHitsBenchmark } from './place-hits.ts';
import { pullSourcesBenchmark } from './pull-sources.ts';
import { listDetectionsBenchmark } from './list-detections.ts';
import { listItemsBenchmark } from './list-items.ts';
import { queryLogStoreBenchmark } from './query-log-store.ts';
import { rehearseBenchmark } from './rehearse.ts';
import { withInProcessProgram } from '../test/support/program-environment.ts';
import { scaleBenchmark } from './scale/scale.ts';
import { sigmaPeerBenchmark } from './sigma-peer.ts';
import { sigmaSetBenchmark } from './sigma-set.ts';
import { startUpBenchmark } from './start-up.ts';

const benchmarks: Record<string, Benchmark> = {
  start: startUpBenchmark,
  footprint: footprintBenchmark,
  items: listItemsBenchmark,
  'feed-million': feedMillionBenchmark,
  'feed-large': feedLargeBenchmark,
  detections: listDetectionsBenchmark,
  create: createDetectionBenchmark,
  claims: claimRunsBenchmark,
  runs: examineRunsBenchmark,
  investigate: investigateBenchmark,
  incidents: placeHitsBenchmark,
  rehearse: rehearseBenchmark,
  scale: scaleBenchmark,
  growth: growthBenchmark,
  local: queryLogStoreBenchmark,
  'object-storage': objectStorageBenchmark,
  sigma: sigmaSetBenchmark,
  'sigma-peer': sigmaPeerBenchmark,
  continuous: continuousBenchmark,
  extract: extractReportsBenchmark,
  ingest: pullSourcesBenchmark,
  others: otherOrganizationsBenchmark,
  console: consoleBenchmark,
};

const usage = `Runs benchmarks, without names all except feed-large and sigma-peer.

Usage: npm run bench -- [OPTION…] [NAME…]
  --write     Also write the results to docs/reference/benchmarks.md.
  --full      At full size, where a benchmark has a smaller one.
  --items N   The items of feed-million or feed-large. Of these, only feed-large can be combined with --write.
  --keep DIR  The data directory of feed-million or feed-large. It is filled if it does not exist, and the next run with it only measures. With
              --items, a smaller feed is extended. Without --items, feed-large measures the feed that is there.
  --rsigma PATH  The program beside which sigma-peer measures: cargo install rsigma --version 0.23.0.
Names: ${Object.keys(benchmarks).join(', ')}.`;

const config = {
  options: {
    write: { type: 'boolean' },
    full: { type: 'boolean', default: false },
    items: { type: 'string' },
    keep: { type: 'string' },
    rsigma: { type: 'string' },
  },
  allowPositionals: true,
} as const;
const { values, positionals } = parseOptions(config, usage);
const runOptions: RunOptions = {
  isFull: values.full,
  items: values.items === undefined ? undefined : toCount('items', values.items),
  keptDir: values.keep === undefined ? undefined : resolve(values.keep),
  rsigma: values.rsigma === undefined ? undefined : resolve(values.rsigma),
};
if (values.write && values.items !== undefined && positionals.join() !== 'feed-large') {
  console.error('--items N can be combined with --write only for feed-large, whose section names its size.');
  process.exit(2);
}
const unknown = positionals.filter((name) => !Object.hasOwn(benchmarks, name));
if (unknown.length > 0) {
  console.error(
    `Unknown benchmark: ${unknown.join(', ')}. Available benchmarks: ${Object.keys(benchmarks).join(', ')}.`,
  );
  process.exit(2);
}

async function describeMachine(): Promise<string> {
  const postgres = await withInProcessProgram(
    async ({ db }) => (await sql<{ v: string }>`select current_setting('server_version') as v`.execute(db)).rows[0]!.v,
  );
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  const duckdb = String((await connection.runAndReadAll('select version()')).getRowsJson()[0]?.[0]);
  const model = cpus()[0]?.model.trim() ?? 'unknown processor';
  return `${cpus().length} cores (${model}), ${Math.round(totalmem() / 2 ** 30)} GiB, ${process.platform} ${process.arch}; Node ${process.versions.node}, PostgreSQL ${postgres}, DuckDB ${duckdb}`;
}

const formatNumber = (value: number | undefined): string =>
  value === undefined ? '' : value >= 100 ? Math.round(value).toLocaleString('en') : value.toPrecision(3);

function renderSection({ title, titleOf, note }: Benchmark, rows: BenchmarkRow[]): string {
  const lines = rows.map(
    ({ label, unit, tocsin, baseline, share }) =>
      `| ${label} | ${formatNumber(tocsin)} | ${formatNumber(baseline)} | ${share === undefined ? '' : `${Math.round(share * 100)} %`} | ${unit} |`,
  );
  const table = ['| | Tocsin | baseline | share | unit |', '|---|---:|---:|---:|---|', ...lines];
  return [`## ${titleOf?.(runOptions) ?? title}`, '', ...table, ...(note === undefined ? [] : ['', note])].join('\n');
}

const sections: string[] = [];
for (const [name, benchmark] of Object.entries(benchmarks)) {
  if (positionals.length > 0 ? !positionals.includes(name) : benchmark.isOnlyByName) continue;
  console.error(`${name}: ${benchmark.title}`);
  const rows = await benchmark.run((text) => console.error(`  ${text}`), runOptions);
  sections.push(renderSection(benchmark, rows));
  const chart = benchmark.draw?.(rows);
  if (chart && values.write) await writeFile(join(root, 'docs/reference', chart.file), chart.svg);
  console.log(`\n${sections.at(-1)}\n`);
}
const machine = await describeMachine();
console.log(machine);

if (values.write) {
  const file = join(root, 'docs/reference/benchmarks.md');
  const head = `# Benchmarks

This page is written by \`npm run bench -- --write\`. \`npm run bench -- NAME … [--write]\` runs only some benchmarks:
${Object.keys(benchmarks).join(', ')}.

- Each figure is the median of several rounds.
- If there is a baseline, both sides are measured in turn, and *share* is the median ratio of the rounds: 100 % means as good as the baseline. For times and costs the ratio is baseline ÷ Tocsin.
- The database is the embedded one with its default settings, including \`fsync\`.

Machine of the last run: ${machine}. Sections that it did not measure have figures of earlier runs, partly on another machine.`;
  await writeFile(file, `${[head, ...mergeSections(await readFile(file, 'utf8'))].join('\n\n')}\n`);
  console.log('Wrote docs/reference/benchmarks.md.');
}

/** Returns the page's sections in the order of the benchmarks. New results replace the section of the same benchmark. */
function mergeSections(page: string): string[] {
  const existing = page.split(/\n(?=## )/).slice(1);
  const all = [...sections, ...existing.map((section) => section.trimEnd())];
  return Object.values(benchmarks).flatMap(
    ({ title }) => all.find((section) => section.startsWith(`## ${title}`)) ?? [],
  );
}
process.exit(0);
