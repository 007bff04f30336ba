import { fuzzRules } from './fuzz-rules.ts';
import { parseOptions, toCount } from '../test/support/parse-options.ts';

const usage = `Compares generated conditions and events with a plain evaluator.

Usage: npm run fuzz:rules -- [OPTION…]
  --pairs N        Number of pairs: 1000000.
  --seed N         Start of the random sequence: 1.`;

const config = {
  options: { pairs: { type: 'string', default: '1000000' }, seed: { type: 'string', default: '1' } },
} as const;
const { values } = parseOptions(config, usage);
const [pairs, seed] = [toCount('pairs', values.pairs), toCount('seed', values.seed, 0)];
const began = performance.now();
let listed = 0;
const { deviations, ...counts } = await fuzzRules({ pairs, seed }, (sofar) => {
  for (const deviation of sofar.deviations.slice(listed)) console.log(JSON.stringify(deviation));
  listed = sofar.deviations.length;
  if (sofar.pairs % 200_000 === 0) console.log(`${sofar.pairs} pairs, ${listed} deviations`);
});
console.log({
  seed,
  ...counts,
  deviations: deviations.length,
  seconds: Math.round((performance.now() - began) / 1000),
});
process.exitCode = deviations.length === 0 ? 0 : 1;
