import { randomInt } from 'node:crypto';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { getTestDir } from '../test/support/test-dir.ts';
import { parseOptions, toCount } from '../test/support/parse-options.ts';
import { root } from '../test/support/program.ts';
import type { FaultOptions } from './options.ts';
import { renderReport } from './report.ts';
import { runFaults } from './run-faults.ts';

const usage = `Injects faults into a running service and checks that nothing is lost, doubled or missing. Exits with 1 if something is.

Usage: npm run faults -- [OPTION…]
  --faults N    Faults at most: 400.
  --seconds N   Seconds at most, after which the round in progress ends: 900.
  --seed N      Start of the random sequences: a random number, which is printed.
  --write       Also write the report to docs/reference/faults.md.`;

const config = {
  options: {
    faults: { type: 'string', default: '400' },
    seconds: { type: 'string', default: '900' },
    seed: { type: 'string', default: String(randomInt(1_000_000)) },
    write: { type: 'boolean', default: false },
  },
} as const;
const { values } = parseOptions(config, usage);
const options: FaultOptions = {
  organizations: 2,
  rules: 16,
  seed: toCount('seed', values.seed, 0),
  faultsMax: toCount('faults', values.faults, 1),
  secondsMax: toCount('seconds', values.seconds, 1),
  hoursPerRound: 12,
  processes: ['serve', 'serve', 'match', 'match', 'runs judge', 'runs judge ingest'],
};
console.error(`seed ${options.seed}`);
const parent = getTestDir();
mkdirSync(parent, { recursive: true });
const startMs = performance.now();
const report = (text: string): void => console.error(`${Math.round((performance.now() - startMs) / 1000)} s: ${text}`);
try {
  const findings = await runFaults(mkdtempSync(join(parent, 'faults-')), options, report);
  const page = renderReport(findings);
  console.log(page);
  if (values.write) writeFileSync(join(root, 'docs/reference/faults.md'), page);
  process.exitCode = findings.deviations.length > 0 ? 1 : 0;
} catch (error) {
  console.error(error);
  process.exitCode = 1;
}
process.exit();
