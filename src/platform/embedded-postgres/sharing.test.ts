import { once } from 'node:events';
import { afterAll, afterEach, expect, test } from 'vitest';
import { startEmbedded } from './embedded-postgres.ts';
import { waitUntil } from './os/processes.ts';
import {
  type Holder,
  endAll,
  holdElsewhere,
  mustHold,
  newDataDir,
  query,
  removeDataDirs,
  serversOf,
} from '../../../test/support/platform/postgres-holder.ts';

const log = (): void => {};

const shared = newDataDir();

afterEach(endAll);
afterAll(removeDataDirs);

test('of two owners starting at the same instant one wins, and the other is told who', async () => {
  const dataDir = newDataDir();
  const results = await Promise.all([holdElsewhere(dataDir, true), holdElsewhere(dataDir, true)]);
  const owners = results.filter((each): each is Holder => 'pid' in each);
  expect(owners).toHaveLength(1);
  const refusals = results.flatMap((each) => ('refused' in each ? [each.refused] : []));
  expect(refusals[0]).toContain(dataDir);
  expect(refusals[0]).toContain(`process ${owners[0]!.pid},`);
  await expect(startEmbedded({ dataDir, exclusive: true, log })).rejects.toThrow(`process ${owners[0]!.pid},`);
  await owners[0]!.leave();
  expect(serversOf(dataDir)).toEqual([]);
});

test('commands at the same instant share one server, and the last one stops it', async () => {
  const dataDir = newDataDir();
  const holders = await Promise.all([1, 2, 3].map(() => mustHold(dataDir, false)));
  expect(holders.map(({ how }) => how).toSorted()).toEqual(['joined', 'joined', 'started']);
  expect(new Set(holders.map(({ url }) => url)).size).toBe(1);
  const starter = holders.find(({ how }) => how === 'started')!;
  await starter.leave();
  const [left, last] = holders.filter((each) => each !== starter);
  expect(await query(left!.url, 'select 1 as n')).toEqual([{ n: 1 }]);
  await Promise.all([left!.leave(), last!.leave()]);
  expect(serversOf(dataDir)).toEqual([]);
});

test('an owner takes over the server of a command, which may go', async () => {
  const command = await mustHold(shared, false);
  const owner = await startEmbedded({ dataDir: shared, exclusive: true, log });
  expect(owner).toMatchObject({ how: 'joined', url: command.url });
  await command.leave();
  expect(await query(owner.url, 'select 1 as n')).toEqual([{ n: 1 }]);
  await owner.stop();
  expect(serversOf(shared)).toEqual([]);
});

test('commands that come and go at random always find a server and leave none', async () => {
  const dataDir = newDataDir();
  const use = async (): Promise<void> => {
    for (let round = 0; round < 6; round++) {
      const server = await startEmbedded({ dataDir, exclusive: false, log });
      expect(await query(server.url, 'select 1 as n')).toEqual([{ n: 1 }]);
      await server.stop();
    }
  };
  await Promise.all([use(), use(), use()]);
  expect(serversOf(dataDir)).toEqual([]);
});

test('a process that exits without a stop takes the server with it', async () => {
  const holder = await mustHold(shared, true);
  holder.process.stdin!.write('exit');
  await once(holder.process, 'exit');
  expect(await waitUntil(() => serversOf(shared).length === 0, 5_000)).toBe(true);
});
