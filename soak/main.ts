import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseOptions, toCount } from '../test/support/parse-options.ts';
import { writeSoakSection } from '../quality/quality-page.ts';
import { startEmbeddedPostgres } from '../src/platform/embedded-postgres/embedded-postgres.ts';
import { migrate } from '../src/platform/db/migrate.ts';
import type { SoakOptions } from './plan.ts';
import { renderReport } from './report.ts';
import { runSoak } from './run-soak.ts';

const usage = `Runs a soak and prints the report. Exits with 1 if there are deviations.

Usage: npm run soak -- [OPTION…]
  --detections N      Detections of all organizations: 2000.
  --organizations N   Organizations: 40.
  --days N            Simulated days: 14.
  --workers N         Worker processes: 3.
  --runs-at-once N    Runs of one worker at the same time: 8.
  --local N           Organizations whose detections read the embedded log store: 1.
  --wait-seconds N    How long the clock waits for the work of an hour: 20.
  --write             Also write the report to docs/reference/quality.md.`;

const config = {
  options: {
    detections: { type: 'string', default: '2000' },
    organizations: { type: 'string', default: '40' },
    days: { type: 'string', default: '14' },
    workers: { type: 'string', default: '3' },
    'runs-at-once': { type: 'string', default: '8' },
    local: { type: 'string', default: '1' },
    'wait-seconds': { type: 'string', default: '20' },
    write: { type: 'boolean', default: false },
  },
} as const;
const { values } = parseOptions(config, usage);

const options: SoakOptions = {
  detections: toCount('detections', values.detections, 1),
  organizations: toCount('organizations', values.organizations, 1),
  days: toCount('days', values.days, 1),
  workers: toCount('workers', values.workers, 1),
  runsAtOnce: toCount('runs-at-once', values['runs-at-once'], 1),
  localOrganizations: toCount('local', values.local, 0),
  waitMs: toCount('wait-seconds', values['wait-seconds'], 1) * 1000,
};
const parent = resolve(import.meta.dirname, '../node_modules/.cache/tocsin-soak');
mkdirSync(parent, { recursive: true });
const dataDir = mkdtempSync(join(parent, 'data-'));
const server = await startEmbeddedPostgres({ dataDir, exclusive: false, log: () => undefined });
try {
  await migrate(server.url);
  const startMs = performance.now();
  const report = (text: string): void =>
    console.error(`${Math.round((performance.now() - startMs) / 1000)} s: ${text}`);
  const findings = await runSoak(options, { databaseUrl: server.url, dataDir }, report);
  const args = process.argv.slice(2).filter((arg) => arg !== '--write');
  const page = renderReport(findings, `npm run soak${args.length > 0 ? ` -- ${args.join(' ')}` : ''}`);
  console.log(page);
  if (values.write) writeSoakSection(`${page}\n`);
  process.exitCode = findings.deviations.count > 0 ? 1 : 0;
} catch (error) {
  // Printed here, because stopping the server can fail as well.
  console.error(error);
  process.exitCode = 1;
} finally {
  await server.stop();
  rmSync(dataDir, { recursive: true, force: true });
}
process.exit();
