import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { expect, test } from 'vitest';
import { startLogStore } from '../../../test/support/detection/log-store.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { isDatasetName } from '../log-store/catalog/catalog.ts';
import { compactSegments } from '../log-compaction/compact-segments.ts';
import { eraseFromLogs } from '../log-compaction/erase-from-logs.ts';

const store = await startLogStore();
const connection = await (await DuckDBInstance.create(':memory:')).connect();
const keywords = (
  await connection.runAndReadAll('SELECT keyword_name, keyword_category FROM duckdb_keywords() ORDER BY 1')
).getRows();
/** Words that cannot be a table name without quotes. */
const reserved = keywords.filter(([, category]) => category === 'reserved').map(([word]) => String(word));
/** All of them, and some of the words that only some positions reserve. */
const fields = keywords.flatMap(([word], n) => (reserved.includes(String(word)) || n % 8 === 0 ? [String(word)] : []));
const person = 'somebody@example.org';

async function compactAll(): Promise<void> {
  while (
    await compactSegments(store.deps, { filesMin: 2, filesMax: 10, bytesMax: 2 ** 26, rowsMax: 1000, hourRowsMin: 1 })
  );
}

/** Returns the `who` of every event of the datasets, read as history, at most 20 datasets per query. */
async function readHistory(org: OrgId, datasets: string[]): Promise<string[]> {
  const window = {
    clock: 'ingest' as const,
    from: new Date('2024-06-02T00:00:00Z'),
    to: new Date('2024-06-03T00:00:00Z'),
  };
  const found: string[] = [];
  for (let from = 0; from < datasets.length; from += 20) {
    const parts = datasets
      .slice(from, from + 20)
      .map((name) => `SELECT '${name}' AS d, "${name}".who FROM "${name}_history" AS "${name}"`);
    const { rows } = await store.search(org, parts.join(' UNION ALL '), window);
    found.push(...rows.map(({ d, who }) => `${String(d)}: ${String(who)}`));
  }
  return found.toSorted();
}

/** Returns the content of all files of an organization's logs. */
function readFiles(org: OrgId): string {
  const folder = store.deps.segmentStore.folderOf(org);
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1')).join('\n');
}

test('every reserved word works as a dataset name: sent, queried, as history, compacted and erased', async () => {
  const datasets = [...reserved, 'index', 'values'].filter(isDatasetName);
  expect(datasets).toEqual(expect.arrayContaining(['order', 'group', 'null', 'select', 'table', 'union']));
  const org = await store.newOrg();
  const send = (who: string) => Promise.all(datasets.map((dataset) => store.send(org, dataset, [{ who }])));
  await send(person);
  await send('bob');
  const expected = (first: string): string[] =>
    datasets.flatMap((name) => [`${name}: ${first}`, `${name}: bob`]).toSorted();
  expect(await readHistory(org, datasets)).toEqual(expected(person));
  await compactAll();
  expect(await readHistory(org, datasets)).toEqual(expected(person));
  expect(await eraseFromLogs(store.deps, org, { field: 'who', value: person })).toBe(datasets.length);
  expect(await readHistory(org, datasets)).toEqual(expected('[erased]'));
  // No file keeps the value, including the files that the compaction replaced.
  expect(readFiles(org)).not.toContain(person);
});

test('every keyword works as a field name: sent, queried, compacted and erased', async () => {
  const org = await store.newOrg();
  const event = Object.fromEntries(fields.map((field) => [field, `(${field})`]));
  await store.send(org, 'd', [event]);
  const list = fields.map((field) => `"${field}"`).join(', ');
  const path = fields.map((field) => `d."${field}" = '(${field})'`).join(' AND ');
  const read = async () => (await store.search(org, `SELECT ${list} FROM d`)).rows;
  expect(await read()).toEqual([event]);
  expect((await store.search(org, `SELECT count(*) AS n FROM d WHERE ${path}`)).rows).toEqual([{ n: 1 }]);
  await store.send(org, 'd', [{ order: person }]);
  await compactAll();
  expect(await read()).toContainEqual(event);
  expect(await eraseFromLogs(store.deps, org, { field: 'order', value: person })).toBe(1);
  expect(await eraseFromLogs(store.deps, org, { field: 'null', value: '(null)' })).toBe(1);
  expect(await read()).toContainEqual({ ...event, null: '[erased]' });
  expect(readFiles(org)).not.toContain(person);
});
