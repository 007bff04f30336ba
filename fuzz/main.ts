import { fuzzQueries } from './fuzz-queries.ts';
import { queryCorpus } from './query-corpus.ts';
import { parseOptions, toCount } from '../test/support/parse-options.ts';

const usage = `Compares generated queries that the allow-list accepts with what DuckDB binds.

Usage: npm run fuzz -- [OPTION…]
  --statements N   Number of statements: 1000000.
  --seed N         Start of the random sequence: 1.`;

const config = {
  options: { statements: { type: 'string', default: '1000000' }, seed: { type: 'string', default: '1' } },
} as const;
const { values } = parseOptions(config, usage);
const [statements, seed] = [toCount('statements', values.statements), toCount('seed', values.seed, 0)];
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
