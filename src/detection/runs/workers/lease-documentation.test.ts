import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { leaseMs } from '../../scheduling/run-claim.ts';

test('the reference states the length of a lease', () => {
  expect(readFileSync('docs/reference/runs.md', 'utf8')).toContain(`with a lease of ${leaseMs / 1000} seconds`);
});
