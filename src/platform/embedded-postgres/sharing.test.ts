import { once } from 'node:events';
import { afterAll, afterEach, expect, test } from 'vitest';
import { startEmbeddedPostgres } from './embedded-postgres.ts';
import { waitUntil } from './processes.ts';
import {
  type Holder,
  killAllHolders,
  holdElsewhere,
  holdOrThrow,
  newDataDir,
  removeDataDirs,
  findPostmasters,
} from '../../../test/support/platform/postgres-holder.ts';
import { runStatements as query } from '../../../test/support/run-statements.ts';

const log = (): void => {};

const shared = newDataDir();

afterEach(killAllHolders);
afterAll(removeDataDirs);

test('one of two concurrent owners wins, and the other learns its pid', async () => {
  const dataDir = newDataDir();
  const results = await Promise.all([holdElsewhere(dataDir, true), holdElsewhere(dataDir, true)]);
  const owners = results.filter((each): each is Holder => 'pid' in each);
  expect(owners).toHaveLength(1);
  const refusals = results.flatMap((each) => ('refused' in each ? [each.refused] : []));
  expect(refusals[0]).toContain(dataDir);
  expect(refusals[0]).toContain(`process ${owners[0]!.pid},`);
  await expect(startEmbeddedPostgres({ dataDir, exclusive: true, log })).rejects.toThrow(`process ${owners[0]!.pid},`);
  await owners[0]!.leave();
  expect(findPostmasters(dataDir)).toEqual([]);
});

test('concurrent commands share one server, and the last one stops it', async () => {
  const dataDir = newDataDir();
  const holders = await Promise.all([1, 2, 3].map(() => holdOrThrow(dataDir, false)));
  expect(holders.map(({ origin }) => origin).toSorted()).toEqual(['joined', 'joined', 'started']);
  expect(new Set(holders.map(({ url }) => url)).size).toBe(1);
  const starter = holders.find(({ origin }) => origin === 'started')!;
  await starter.leave();
  const [left, last] = holders.filter((each) => each !== starter);
  expect(await query(left!.url, 'select 1 as n')).toEqual([{ n: 1 }]);
  await Promise.all([left!.leave(), last!.leave()]);
  expect(findPostmasters(dataDir)).toEqual([]);
});

test('an owner takes over the server of a command that leaves', async () => {
  const command = await holdOrThrow(shared, false);
  const owner = await startEmbeddedPostgres({ dataDir: shared, exclusive: true, log });
  expect(owner).toMatchObject({ origin: 'joined', url: command.url });
  await command.leave();
  expect(await query(owner.url, 'select 1 as n')).toEqual([{ n: 1 }]);
  await owner.stop();
  expect(findPostmasters(shared)).toEqual([]);
});

test('overlapping commands always find a server and leave none', async () => {
  const dataDir = newDataDir();
  const use = async (): Promise<void> => {
    for (let round = 0; round < 3; round++) {
      const server = await startEmbeddedPostgres({ dataDir, exclusive: false, log });
      expect(await query(server.url, 'select 1 as n')).toEqual([{ n: 1 }]);
      await server.stop();
    }
  };
  await Promise.all([use(), use(), use()]);
  expect(findPostmasters(dataDir)).toEqual([]);
});

test('a process that exits without a stop also stops the server', async () => {
  const holder = await holdOrThrow(shared, true);
  holder.process.stdin!.write('exit');
  await once(holder.process, 'exit');
  expect(await waitUntil(() => findPostmasters(shared).length === 0, 60_000)).toBe(true);
});
