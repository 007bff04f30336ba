import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createTestFolder } from '../../../../test/support/detection/log-store.ts';
import { createSegmentCache, type CachedFile } from './segment-cache.ts';

const contentOf = (path: string): string => `content of ${path} `.padEnd(100, '.');
const fileOf = (path: string): CachedFile => ({
  path,
  bytes: 100,
  sha256: createHash('sha256').update(contentOf(path)).digest('hex'),
});

function openCache(options: { folder?: string; bytesMax?: number; content?: (path: string) => string } = {}) {
  const { folder = createTestFolder(), bytesMax = 250, content = contentOf } = options;
  const downloads: string[] = [];
  const download = async (path: string, target: string): Promise<void> => {
    downloads.push(path);
    await Promise.resolve();
    writeFileSync(target, content(path));
  };
  const cache = createSegmentCache({ folder, bytesMax, download });
  const read = async (path: string): Promise<void> => (await cache.use(fileOf(path)))();
  return { folder, downloads, cache, read };
}

test('removes the copies that were used least recently', async () => {
  const { cache, downloads, folder, read } = openCache();
  for (const path of ['a', 'b', 'a', 'c', 'a', 'b']) await read(path);
  expect(downloads).toEqual(['a', 'b', 'c', 'b']);
  expect(cache.paths()).toEqual(['a', 'b']);
  expect(existsSync(join(folder, 'c'))).toBe(false);
});

test('never removes a file in use, and removes it afterwards', async () => {
  const { cache, folder } = openCache({ bytesMax: 50 });
  const [first, second] = await Promise.all([cache.use(fileOf('a')), cache.use(fileOf('a'))]);
  first();
  first();
  cache.remove('a');
  expect(readFileSync(join(folder, 'a'), 'utf8')).toBe(contentOf('a'));
  second();
  expect(existsSync(join(folder, 'a'))).toBe(false);
});

test('simultaneous uses share a download', async () => {
  const { cache, downloads } = openCache();
  await Promise.all([1, 2, 3].map(() => cache.use(fileOf('a'))));
  expect(downloads).toEqual(['a']);
});

test('rejects a damaged download and downloads it again the next time', async () => {
  let content = 'damaged';
  const { read, folder, downloads } = openCache({ content: () => content });
  await expect(read('a')).rejects.toThrow('is damaged');
  expect(existsSync(join(folder, 'a'))).toBe(false);
  content = contentOf('a');
  await read('a');
  expect(downloads).toEqual(['a', 'a']);
});

test('uses the copies of an earlier process, except damaged and incomplete ones', async () => {
  const folder = createTestFolder();
  writeFileSync(join(folder, 'a'), contentOf('a'));
  writeFileSync(join(folder, 'b'), contentOf('a'));
  writeFileSync(join(folder, 'c.partial'), 'half');
  const { read, downloads } = openCache({ folder });
  await read('a');
  await read('b');
  expect(downloads).toEqual(['b']);
  expect(readFileSync(join(folder, 'b'), 'utf8')).toBe(contentOf('b'));
  expect(existsSync(join(folder, 'c.partial'))).toBe(false);
});

test('removes the folders of an hour and a day with their last copy, and those that an earlier process left', async () => {
  const [day, kept] = ['org/dataset=auth/date=2026-01-01', 'org/dataset=auth/date=2026-01-02'];
  const folder = createTestFolder();
  mkdirSync(join(folder, 'org/dataset=auth/date=2025-12-31/hour=24'), { recursive: true });
  const { cache, read } = openCache({ folder, bytesMax: 1_000 });
  expect(readdirSync(join(folder, 'org/dataset=auth'))).toEqual([]);
  const paths = [`${day}/hour=05/a`, `${day}/hour=05/b`, `${kept}/hour=24/c`];
  for (const path of paths) await read(path);
  cache.remove(paths[0]!);
  expect(existsSync(join(folder, paths[1]!))).toBe(true);
  cache.remove(paths[1]!);
  expect(readdirSync(join(folder, 'org/dataset=auth'))).toEqual(['date=2026-01-02']);
  // A copy that is downloaded while the last other one is removed still finds its folder.
  const reading = read(`${kept}/hour=24/d`);
  cache.remove(paths[2]!);
  await reading;
  expect(existsSync(join(folder, `${kept}/hour=24/d`))).toBe(true);
});
