import { existsSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LRUCache } from 'lru-cache';
import { startLogStore } from '../../../test/support/detection/log-store.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { removeOrphanedFiles, removeReplacedFiles } from './clean-segments.ts';
import { compactSegments } from './compact-segments.ts';

const store = await startLogStore();
const { send, search } = store;
const limits = { filesMin: 2, filesMax: 50, bytesMax: 10_000_000, rowsMax: 1_000_000, hourRowsMin: 1 };
const compactAll = async (): Promise<void> => {
  for (let runs = 0; runs < 50 && (await compactSegments(store.deps, limits)); runs++);
};

const listExtensions = (org: OrgId): string[] =>
  readdirSync(store.deps.segmentStore.folderOf(org), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => extname(name))
    .toSorted();

const value = fc.oneof(
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.boolean(),
  fc.string(),
  fc.constantFrom(null, '2024-01-01T00:00:00Z'),
  fc.array(fc.string(), { maxLength: 2 }),
  fc.dictionary(fc.constantFrom('x', 'y'), fc.integer()),
);
const event = fc.dictionary(fc.constantFrom('a', 'A', 'b', 'c', 'd "q"', 'time'), value, { maxKeys: 5 });

test('compaction does not change query results', async () => {
  let run = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(event, { minLength: 1, maxLength: 4 }), { minLength: 2, maxLength: 5 }),
      fc.array(event, { minLength: 1, maxLength: 3 }),
      async (batches, later) => {
        const org = await store.newOrg();
        run += 1;
        for (const [hour, batch] of batches.entries()) {
          store.at(`2024-06-${String(run % 28 || 1).padStart(2, '0')}T${String(hour).padStart(2, '0')}:00:00Z`);
          await send(
            org,
            'd',
            batch.map((fields, index) => ({ a: null, b: null, c: null, ...fields, mark: `${hour}.${index}` })),
            { history: hour === 0 },
          );
        }
        const day = `2024-06-${String(run % 28 || 1).padStart(2, '0')}`;
        const window = { from: new Date(`${day}T01:00:00Z`), to: new Date(`${day}T03:00:00Z`) };
        const queryAll = async (): Promise<unknown[]> => [
          (await search(org, 'SELECT * FROM d')).rows,
          (await search(org, 'SELECT mark, a, _ingested FROM d', { ...window, clock: 'ingest' })).rows,
          (await search(org, 'SELECT mark, b, _time FROM d_history', { ...window, clock: 'ingest' })).rows,
          (await search(org, 'SELECT mark, c FROM d', { ...window, clock: 'event', ingestedBefore: window.to })).rows,
        ];
        const before = await queryAll();
        await compactAll();
        expect(await queryAll()).toEqual(before);
        // New columns and wider types also apply to events that were compacted earlier.
        await send(
          org,
          'd',
          later.map((fields) => ({ ...fields, fresh: 1 })),
        );
        const mixed = await queryAll();
        await compactAll();
        expect(await queryAll()).toEqual(mixed);
      },
    ),
    { numRuns: 5 },
  );
});

test('keeps replaced files during the grace period and removes them afterwards', async () => {
  const org = await store.newOrg();
  for (const n of [1, 2, 3]) await send(org, 'auth', [{ n }]);
  await compactAll();
  expect(listExtensions(org)).toEqual(['.events', '.events', '.events', '.json', '.parquet']);
  expect(await removeReplacedFiles(store.deps, 600_000)).toBe(0);
  expect(await removeReplacedFiles(store.deps, 0)).toBeGreaterThanOrEqual(3);
  expect(listExtensions(org)).toEqual(['.json', '.parquet']);
  expect((await search(org, 'SELECT n FROM auth ORDER BY n')).rows).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
});

test('concurrent compactions neither lose nor duplicate rows', async () => {
  const org = await store.newOrg();
  for (const n of [1, 2, 3, 4]) await send(org, 'auth', [{ n }]);
  await Promise.all([
    compactSegments(store.deps, limits),
    compactSegments(store.deps, limits),
    compactSegments(store.deps, limits),
  ]);
  expect((await search(org, 'SELECT n FROM auth ORDER BY n')).rows.map((row) => row['n'])).toEqual([1, 2, 3, 4]);
});

test('removes only old files that are not listed', async () => {
  const org = await store.newOrg();
  const { batchId } = await send(org, 'auth', [{ n: 1 }]);
  const folder = join(store.deps.segmentStore.folderOf(org), 'auth');
  const [left, fresh] = [join(folder, 'left.events'), join(folder, 'fresh.events')];
  for (const path of [left, fresh]) writeFileSync(path, 'id\t0\t{}\n');
  const hourAgo = new Date(Date.now() - 3_600_000);
  for (const path of [left, join(folder, `${batchId}.events`)]) utimesSync(path, hourAgo, hourAgo);
  expect(await removeOrphanedFiles(store.deps)).toBe(1);
  expect([existsSync(left), existsSync(fresh), existsSync(join(folder, `${batchId}.events`))]).toEqual([
    false,
    true,
    true,
  ]);
});

test('merges segments of a dataset with as many columns as there can be', async () => {
  const org = await store.newOrg();
  const wide = Object.fromEntries(Array.from({ length: 1_100 }, (_, n) => [`key${n}`, n]));
  for (const n of [1, 2, 3]) await send(org, 'wide', [{ n, ...wide, last: n }]);
  const query = 'SELECT n, KEY150, key900, last FROM wide WHERE key900 = 900 ORDER BY n';
  const before = (await search(org, query)).rows;
  await compactAll();
  expect(listExtensions(org)).toContain('.parquet');
  expect((await search(org, query)).rows).toEqual(before);
  expect(before).toHaveLength(3);
});

test('merges the segments of others while those of one dataset cannot be merged', async () => {
  const [broken, sound] = [await store.newOrg(), await store.newOrg()];
  for (const n of [1, 2, 3]) await send(broken, 'auth', [{ n }]);
  for (const n of [1, 2]) await send(sound, 'auth', [{ n }]);
  const folder = join(store.deps.segmentStore.folderOf(broken), 'auth');
  for (const name of readdirSync(folder)) rmSync(join(folder, name));
  const failed = new LRUCache<string, true>({ max: 10 });
  await expect(compactSegments(store.deps, limits, failed)).rejects.toThrow();
  while (await compactSegments(store.deps, limits, failed));
  expect(listExtensions(sound)).toContain('.parquet');
});
