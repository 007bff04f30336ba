import { rmSync } from 'node:fs';
import { expect, test } from 'vitest';
import { testDatabase } from '../../../../test/support/database.ts';
import { newDataDir } from '../../../../test/support/harness.ts';
import { claimDataDirectory, directoryIdPath, findDirectoryFault } from './data-directory.ts';

const { db, query } = await testDatabase();
const unclaim = () => query`update log_store set directory_id = null`;
const claim = (dir: string, adopt = false) => claimDataDirectory(db, dir, { adopt });

test('every process needs the directory that the first one claimed', async () => {
  const [first, other] = [newDataDir(), newDataDir()];
  await claim(first);
  await claim(first);
  await expect(claim(other)).rejects.toThrow(/is not the data directory of this installation/);
  expect(await findDirectoryFault(db, first)).toBeUndefined();
  expect(await findDirectoryFault(db, other)).toMatch(/this one has no such file/);
  await claim(other, true);
  expect(await findDirectoryFault(db, first)).toMatch(/here it contains/);
  rmSync(directoryIdPath(other));
  await expect(claim(other)).rejects.toThrow(/this one has no such file/);
});

test('processes that start at the same time agree on one directory', async () => {
  await unclaim();
  const dirs = [newDataDir(), newDataDir(), newDataDir()];
  const outcomes = await Promise.allSettled([...dirs, ...dirs].map((dir) => claim(dir)));
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
});

test('a start that crashed before its claim was stored leaves a directory that can be claimed', async () => {
  const dir = newDataDir();
  await unclaim();
  await claim(dir);
  await unclaim();
  await claim(dir);
  expect(await findDirectoryFault(db, dir)).toBeUndefined();
});
