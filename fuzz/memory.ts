import { parseArgs } from 'node:util';
import { measureHostileMemory } from './hostile-requests.ts';

const { values } = parseArgs({
  options: { requests: { type: 'string', default: '100000' }, seed: { type: 'string', default: '1' } },
});
const began = performance.now();
const report = await measureHostileMemory({ requests: Number(values.requests), seed: Number(values.seed) });
console.log({ requests: Number(values.requests), ...report, seconds: Math.round((performance.now() - began) / 1000) });
process.exitCode = report.growthMb <= 150 ? 0 : 1;
