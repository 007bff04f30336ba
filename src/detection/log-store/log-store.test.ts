import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { testDatabase } from '../../../test/support/database.ts';
import { newDataDir } from '../../../test/support/harness.ts';
import { claimLogStore, findLogStoreFault } from './log-store.ts';
import { createFileStore } from './files/file-store.ts';

const { db, query } = await testDatabase();
const unclaim = () => query`update log_store set directory_id = null`;
const claim = (folder: string, adopt = false) => claimLogStore(db, createFileStore(folder), { adopt });
const faultOf = (folder: string) => findLogStoreFault(db, createFileStore(folder));

test('every process needs the folder that the first one claimed', async () => {
  const [first, other] = [newDataDir(), newDataDir()];
  await claim(first);
  await claim(first);
  await expect(claim(other)).rejects.toThrow(/is not the log storage of this installation/);
  expect(await faultOf(first)).toBeUndefined();
  expect(await faultOf(other)).toMatch(/here it does not exist/);
  await claim(other, true);
  expect(await faultOf(first)).toMatch(/here it contains/);
  rmSync(join(other, 'directory-id'));
  await expect(claim(other)).rejects.toThrow(/here it does not exist/);
});

test('processes that start at the same time agree on one folder', async () => {
  await unclaim();
  const dirs = [newDataDir(), newDataDir(), newDataDir()];
  const outcomes = await Promise.allSettled([...dirs, ...dirs].map((dir) => claim(dir)));
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
});

test('a start that crashed before its claim was stored leaves a folder that can be claimed', async () => {
  const dir = newDataDir();
  await unclaim();
  await claim(dir);
  await unclaim();
  await claim(dir);
  expect(await faultOf(dir)).toBeUndefined();
});
