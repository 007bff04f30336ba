import { measureHostileMemory } from './hostile-requests.ts';
import { parseOptions, toCount } from '../test/support/parse-options.ts';

const usage = `Sends hostile requests and measures the memory of the main process.

Usage: npm run fuzz:memory -- [OPTION…]
  --requests N     Number of requests: 100000.
  --seed N         Start of the random sequence: 1.`;

const config = {
  options: { requests: { type: 'string', default: '100000' }, seed: { type: 'string', default: '1' } },
} as const;
const { values } = parseOptions(config, usage);
const requests = toCount('requests', values.requests);
const began = performance.now();
const report = await measureHostileMemory({ requests, seed: toCount('seed', values.seed, 0) });
console.log({ requests, ...report, seconds: Math.round((performance.now() - began) / 1000) });
process.exitCode = report.growthMb <= 150 ? 0 : 1;
