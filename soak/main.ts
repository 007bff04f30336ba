import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { writeSoakSection } from '../quality/quality-page.ts';
import { startEmbeddedPostgres } from '../src/platform/embedded-postgres/embedded-postgres.ts';
import { migrate } from '../src/platform/db/migrate.ts';
import type { SoakOptions } from './plan.ts';
import { renderReport } from './report.ts';
import { runSoak } from './run-soak.ts';

/** Runs a soak and prints the report. Exits with code 1 if there are deviations. Usage: `npm run soak [-- --detections 2000 --organizations 40 --days 14 …]` */
const { values } = parseArgs({
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
});

function parseCount(name: keyof typeof values, min: number): number {
  const n = Number(values[name]);
  if (!Number.isInteger(n) || n < min) throw new Error(`--${name} must be an integer of at least ${min}.`);
  return n;
}

const options: SoakOptions = {
  detections: parseCount('detections', 1),
  organizations: parseCount('organizations', 1),
  days: parseCount('days', 1),
  workers: parseCount('workers', 1),
  runsAtOnce: parseCount('runs-at-once', 1),
  localOrganizations: parseCount('local', 0),
  waitMs: parseCount('wait-seconds', 1) * 1000,
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
