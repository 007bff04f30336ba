import { parseArgs } from 'node:util';
import { fuzzQueries } from './fuzz-queries.ts';
import { queryCorpus } from './query-corpus.ts';

const { values } = parseArgs({
  options: { statements: { type: 'string', default: '1000000' }, seed: { type: 'string', default: '1' } },
});
const [statements, seed] = [Number(values.statements), Number(values.seed)];
const began = performance.now();
let listed = 0;
const report = await fuzzQueries({ statements, seed, corpus: queryCorpus }, (sofar) => {
  for (const { statement, reason } of sofar.deviations.slice(listed)) console.log(`${reason}\n  ${statement}`);
  listed = sofar.deviations.length;
  if (sofar.statements % 50_000 === 0)
    console.log(`${sofar.statements} statements, ${sofar.bound} bound, ${listed} deviations`);
});
const { deviations, ...counts } = report;
console.log({ seed, ...counts, seconds: Math.round((performance.now() - began) / 1000) });
process.exitCode = deviations.length === 0 ? 0 : 1;
