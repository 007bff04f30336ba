import { expect, test } from 'vitest';
import { startLogStore } from '../../../../test/support/detection/log-store.ts';
import { compactSegments } from '../../log-compaction/compact-segments.ts';

const store = await startLogStore();
const { send, search } = store;
const limits = { filesMin: 1, filesMax: 50, bytesMax: 10_000_000, rowsMax: 1_000_000, hourRowsMin: 1 };

test('_text finds decoded text in text and Parquet files, and is in no SELECT *', async () => {
  const org = await store.newOrg();
  const lines = [
    String.raw`{"n":1,"path":"C:\\Windows\\System32","say":"\"hi\""}`,
    String.raw`{"n":2,"name":"caf\u00e9 \ud83d\ude00","url":"https:\/\/x","deep":{"list":["a\tb"]}}`,
  ];
  await send(org, 'd', lines.join('\n'));
  const find = async (pattern: string): Promise<unknown> =>
    (await search(org, `SELECT n FROM d WHERE _text LIKE '%${pattern}%'`)).rows.map((row) => row['n']);
  for (const afterBatch of [async () => undefined, () => compactSegments(store.deps, limits)]) {
    await afterBatch();
    expect(await find(String.raw`C:\Windows\System32`)).toEqual([1]);
    expect(await find('""hi""')).toEqual([1]);
    expect(await find('café 😀')).toEqual([2]);
    expect(await find('https://x')).toEqual([2]);
    expect(await find('a\tb')).toEqual([2]);
    expect(await find('nothing')).toEqual([]);
    expect(Object.keys((await search(org, 'SELECT * FROM d LIMIT 1')).rows[0]!)).not.toContain('_text');
    await send(org, 'd', [{ n: 3 }]);
  }
});

test('names match without regard to case at every level, with any number of spellings', async () => {
  const org = await store.newOrg();
  const spell = (index: number): string =>
    [...'userid'].map((letter, bit) => (index & (1 << bit) ? letter.toUpperCase() : letter)).join('');
  const events = Array.from({ length: 20 }, (_, n) => ({
    n,
    [spell(n)]: `u${n}`,
    o: { [spell(n)]: { Name: `v${n}` } },
  }));
  await send(org, 'd', events);
  const rows = events.map(({ n }) => ({ n, u: `u${n}`, v: `v${n}` }));
  const query = 'SELECT n, USERID AS u, O.uSeRiD.nAmE AS v FROM d ORDER BY n';
  expect((await search(org, query)).rows).toEqual(rows);
  await compactSegments(store.deps, limits);
  expect((await search(org, query)).rows).toEqual(rows);
  const wide = Object.fromEntries(Array.from({ length: 150 }, (_, index) => [`Key${index}`, `k${index}`]));
  await send(org, 'wide', [{ o: wide }]);
  expect((await search(org, 'SELECT o.KEY149 AS last FROM wide')).rows).toEqual([{ last: 'k149' }]);
});

test('thousands of junk columns hide no column', async () => {
  const org = await store.newOrg();
  await send(org, 'd', [Object.fromEntries(Array.from({ length: 3000 }, (_, index) => [`junk${index}`, index]))]);
  await send(org, 'd', [{ User: 'ana', o: { Name: 'x' } }]);
  const query = "SELECT user AS u, JUNK2999 AS j FROM d WHERE user = 'ana' OR junk2999 = '2999' ORDER BY 1";
  for (const afterBatch of [async () => undefined, () => compactSegments(store.deps, limits)]) {
    await afterBatch();
    const { rows, warnings } = await search(org, query);
    expect(rows).toEqual([
      { u: 'ana', j: null },
      { u: null, j: '2999' },
    ]);
    expect(warnings).toEqual([]);
  }
});
