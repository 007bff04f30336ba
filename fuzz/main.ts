import { parseArgs } from 'node:util';
import { fuzzQueries } from './fuzz-queries.ts';
import { queryCorpus } from './query-corpus.ts';

const { values } = parseArgs({
  options: { statements: { type: 'string', default: '1000000' }, seed: { type: 'string', default: '1' } },
});
const [statements, seed] = [Number(values.statements), Number(values.seed)];
const began = performance.now();
const report = await fuzzQueries(
  { statements, seed, corpus: queryCorpus },
  ({ statements: done, bound, deviation }) => {
    if (done % 50_000 === 0) console.log(`${done} statements, ${bound} bound, ${deviation} deviations`);
  },
);
const { deviations, ...counts } = report;
console.log({ seed, ...counts, seconds: Math.round((performance.now() - began) / 1000) });
for (const { statement, reason } of deviations.slice(0, 20)) console.log(`${reason}\n  ${statement}`);
process.exitCode = deviations.length === 0 ? 0 : 1;
