import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runFaults } from '../../faults/run-faults.ts';
import { getTestDir } from '../support/test-dir.ts';

/** The short form of `npm run faults`, with the same faults in every run. */
const options = {
  organizations: 2,
  rules: 8,
  seed: Number(process.env['TOCSIN_PROPERTY_SEED'] ?? 1),
  faultsMax: 8,
  secondsMax: 40,
  hoursPerRound: 8,
  processes: ['serve match', 'serve runs judge', 'runs match judge ingest'],
};

test(
  'processes, databases, networks, clocks, disks, storage and models fail: nothing is lost, doubled or missing, and nobody has to help',
  { timeout: 400_000 },
  async () => {
    const found = await runFaults(mkdtempSync(join(getTestDir(), 'faults-')), options, () => undefined);
    const kinds = [...found.injected];
    expect(found.deviations, JSON.stringify({ seed: options.seed, kinds })).toEqual([]);
    expect(found.counts.events).toBeGreaterThan(300);
    expect(found.counts.hits).toBeGreaterThan(10);
    expect(kinds.length).toBeGreaterThan(3);
  },
);
