import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { writeSoak } from '../quality/page.ts';
import { startEmbedded } from '../src/platform/embedded-postgres/embedded-postgres.ts';
import { migrate } from '../src/platform/db/migrate.ts';
import type { Options } from './plan.ts';
import { reportOf } from './report.ts';
import { soak } from './soak.ts';

/** `npm run soak [-- --detections 2000 --organizations 40 --days 14 …]`: plays the plan, prints what was found, exits with 1 for any deviation. */
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

function count(name: keyof typeof values, min: number): number {
  const n = Number(values[name]);
  if (!Number.isInteger(n) || n < min) throw new Error(`--${name} must be a whole number from ${min} up.`);
  return n;
}

const options: Options = {
  detections: count('detections', 1),
  organizations: count('organizations', 1),
  days: count('days', 1),
  workers: count('workers', 1),
  runsAtOnce: count('runs-at-once', 1),
  local: count('local', 0),
  waitMs: count('wait-seconds', 1) * 1000,
};
const parent = resolve(import.meta.dirname, '../node_modules/.cache/tocsin-soak');
mkdirSync(parent, { recursive: true });
const dataDir = mkdtempSync(join(parent, 'data-'));
const server = await startEmbedded({ dataDir, exclusive: false, log: () => undefined });
try {
  await migrate(server.url);
  const begun = performance.now();
  const say = (text: string): void => console.error(`${Math.round((performance.now() - begun) / 1000)} s: ${text}`);
  const found = await soak(options, { databaseUrl: server.url, dataDir }, say);
  const given = process.argv.slice(2).filter((word) => word !== '--write');
  const report = reportOf(found, `npm run soak${given.length > 0 ? ` -- ${given.join(' ')}` : ''}`);
  console.log(report);
  if (values.write) writeSoak(`${report}\n`);
  process.exitCode = found.faults.count > 0 ? 1 : 0;
} finally {
  await server.stop();
  rmSync(dataDir, { recursive: true, force: true });
}
process.exit();
