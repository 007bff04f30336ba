import { expect, test } from 'vitest';
import { fuzzPaths } from '../../../fuzz/fuzz-paths.ts';
import { openPathOracle } from '../../../fuzz/path-oracle.ts';
import { queryCorpus } from '../../../fuzz/query-corpus.ts';

test('a rewritten query returns what the engine returns for a structure', async () => {
  const report = await fuzzPaths({ statements: 400, seed: 7 });
  expect(report.deviations).toEqual([]);
  expect(report.same).toBeGreaterThan(120);
});

test('the corpus returns the same after it is written from its tree', async () => {
  const oracle = await openPathOracle();
  const verdicts = [];
  for (const statement of queryCorpus) verdicts.push({ statement, ...(await oracle.check(statement)) });
  oracle.close();
  expect(verdicts.filter(({ kind }) => kind === 'deviation')).toEqual([]);
});
