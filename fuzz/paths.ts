import { fuzzPaths } from './fuzz-paths.ts';
import { parseOptions, toCount } from '../test/support/parse-options.ts';

const usage = `Compares what generated queries with dotted names return from objects in JSON and from structures.

Usage: npm run fuzz:paths -- [OPTION…]
  --statements N   Number of statements: 100000.
  --seed N         Start of the random sequence: 1.`;

const config = {
  options: { statements: { type: 'string', default: '100000' }, seed: { type: 'string', default: '1' } },
} as const;
const { values } = parseOptions(config, usage);
const [statements, seed] = [toCount('statements', values.statements), toCount('seed', values.seed, 0)];
const began = performance.now();
let listed = 0;
const report = await fuzzPaths({ statements, seed }, (sofar) => {
  for (const { statement, reason } of sofar.deviations.slice(listed)) console.log(`${reason}\n  ${statement}`);
  listed = sofar.deviations.length;
  if (sofar.statements % 10_000 === 0)
    console.log(`${sofar.statements} statements, ${sofar.same} the same, ${listed} deviations`);
});
const { deviations, ...counts } = report;
console.log({ seed, ...counts, seconds: Math.round((performance.now() - began) / 1000) });
process.exitCode = deviations.length === 0 ? 0 : 1;
