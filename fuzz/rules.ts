import { parseArgs } from 'node:util';
import { fuzzRules } from './fuzz-rules.ts';

const { values } = parseArgs({
  options: { pairs: { type: 'string', default: '1000000' }, seed: { type: 'string', default: '1' } },
});
const [pairs, seed] = [Number(values.pairs), Number(values.seed)];
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
