import { afterAll, expect, test } from 'vitest';
import { openBindingOracle } from '../../../fuzz/binding-oracle.ts';
import { fuzzQueries } from '../../../fuzz/fuzz-queries.ts';
import { queryCorpus } from '../../../fuzz/query-corpus.ts';

const oracle = await openBindingOracle();
afterAll(() => oracle.close());

test('accepted statements bind to nothing but the tables of the window', async () => {
  const report = await fuzzQueries({ statements: 800, seed: 11, corpus: queryCorpus });
  expect(report.deviations).toEqual([]);
  expect(report.unresolved).toBe(0);
  // The figures show that the statements are neither all refused nor all harmless.
  expect(report.bound).toBeGreaterThan(160);
  expect(report.refused).toBeGreaterThan(80);
});

test('the corpus of the mutations is accepted', async () => {
  const verdicts = await oracle.check([...queryCorpus]);
  expect(verdicts.filter(({ kind }) => kind === 'refused' || kind === 'deviation')).toEqual([]);
});

test.each([
  ['SELECT * FROM "FOLDER/trap.tsv"', []],
  ['WITH RECURSIVE "FOLDER/*.tsv" AS (FROM "FOLDER/*.tsv" UNION ALL FROM "FOLDER/*.tsv") FROM "FOLDER/*.tsv"', []],
  ['WITH RECURSIVE pg_settings AS (FROM pg_settings UNION ALL FROM pg_settings) FROM pg_settings', []],
  ['FROM duckdb_tables', ['auth']],
  ["SELECT * FROM read_text('FOLDER/trap.csv')", ['auth']],
  ['WITH a AS (SELECT * FROM b) FROM a', ['auth']],
  ["SELECT * FROM '/etc/passwd.csv'", []],
])('the oracle notices what %s binds to, and the check refuses it or reports the table', async (sql, tables) => {
  const statement = sql.replaceAll('FOLDER', oracle.folder);
  expect(await oracle.findForeignBinding(statement, tables)).toBeDefined();
  const [verdict] = await oracle.check([statement]);
  expect(verdict!.kind).not.toBe('deviation');
});
