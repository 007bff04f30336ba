import { randomBytes } from 'node:crypto';
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../fuzz/random.ts';
import { migrate } from '../src/platform/db/migrate.ts';
import { s3Faults } from '../test/support/detection/serve-s3.ts';
import type { ModelReply } from '../test/support/models/model-server.ts';
import type { World } from './world.ts';

/** Faults of one lane follow each other, those of different lanes overlap. */
export const lanes = ['processes', 'database', 'surroundings'] as const;

export type FaultKind = {
  lane: (typeof lanes)[number];
  /** What happens, for the report. */
  name: string;
  /** How often it is chosen, relative to the others of its lane. */
  weight: number;
  /** Returns why it cannot be injected on this machine, or undefined. */
  findObstacle?: (world: World) => string | undefined;
  /** Injects one fault and removes its cause after a while. Returns false if it could not be injected at this time. */
  inject: (world: World, random: Random) => Promise<boolean>;
};

const pickProcess = ({ proxies }: World, random: Random): number => random.int(proxies.length);
/** Waits up to `maxMs`, and at least a tenth of it. */
const hold = (random: Random, maxMs: number): Promise<void> => sleep(maxMs / 10 + random.int(maxMs * 0.9));
const minuteMs = 60_000;

const processFaults: Omit<FaultKind, 'lane'>[] = [
  {
    name: 'a process is killed',
    weight: 6,
    inject: async ({ cluster, ...world }, random) => {
      cluster.killOne(pickProcess({ cluster, ...world }, random));
      return true;
    },
  },
  {
    name: 'all processes are killed at the same time',
    weight: 1,
    inject: async ({ cluster, proxies }) => {
      for (const index of proxies.keys()) cluster.killOne(index);
      return true;
    },
  },
  {
    name: 'a process is stopped for longer than its lease, and continues',
    weight: 3,
    inject: async (world, random) => {
      const index = pickProcess(world, random);
      world.cluster.signal(index, 'SIGSTOP');
      await hold(random, 15_000);
      world.cluster.signal(index, 'SIGCONT');
      return true;
    },
  },
  {
    name: 'the clock of a process jumps forward or back, by up to three hours',
    weight: 4,
    inject: async ({ cluster, ...world }, random) => {
      const index = pickProcess({ cluster, ...world }, random);
      cluster.setSkew(index, (random.int(360) - 180) * minuteMs);
      await hold(random, 4000);
      cluster.setSkew(index, 0);
      return true;
    },
  },
  {
    name: 'a process of a new version takes the place of one of the old version, beside others of it',
    weight: 2,
    inject: async ({ cluster, versions, pair, proxies }, random) => {
      const next = random.int(proxies.length);
      if (next === 0 || versions.newest() === undefined) {
        const folder = versions.create();
        await pair.onPrimary((url) => migrate(url, join(folder, 'migrations')));
      }
      await cluster.replaceOne(next, versions.newest()!);
      return true;
    },
  },
];

const databaseFaults: Omit<FaultKind, 'lane'>[] = [
  {
    name: 'PostgreSQL is killed',
    weight: 3,
    inject: async ({ pair }) => {
      pair.kill('primary');
      return true;
    },
  },
  {
    name: 'a process of PostgreSQL is killed, and with it all connections',
    weight: 2,
    inject: async ({ pair }, random) => pair.killBackend((count) => random.int(count)),
  },
  {
    name: 'the synchronous standby is killed, and commits wait for it',
    weight: 2,
    inject: async ({ pair }) => {
      pair.kill('standby');
      return true;
    },
  },
  {
    name: 'the primary is lost, and the synchronous standby takes its place',
    weight: 2,
    inject: async ({ pair, proxies }) => {
      if (!(await pair.isSynchronous())) return false;
      await pair.failOver();
      for (const proxy of proxies) proxy.cut();
      return true;
    },
  },
  {
    name: 'all connections of a process to the database are cut',
    weight: 5,
    inject: async (world, random) => {
      world.proxies[pickProcess(world, random)]!.cut();
      return true;
    },
  },
  {
    name: 'the connections of a process to the database are frozen',
    weight: 4,
    inject: async (world, random) => {
      const thaw = world.proxies[pickProcess(world, random)]!.freeze();
      await hold(random, 8000);
      thaw();
      return true;
    },
  },
  {
    name: 'the connections of a process to the database are slow',
    weight: 2,
    inject: async (world, random) => {
      const proxy = world.proxies[pickProcess(world, random)]!;
      proxy.setDelay(20 + random.int(200));
      await hold(random, 3000);
      proxy.setDelay(0);
      return true;
    },
  },
  {
    name: 'the clock of the database jumps forward or back, by up to ten minutes',
    weight: 2,
    inject: async ({ setDatabaseClock }, random) => {
      await setDatabaseClock((random.int(20) - 10) * minuteMs);
      await hold(random, 3000);
      await setDatabaseClock(0);
      return true;
    },
  },
  {
    name: 'the disk of the database is full',
    weight: 2,
    findObstacle: ({ disks }) => (disks.databases ? undefined : 'needs the right to mount'),
    inject: ({ pair }, random) => whileFull(pair.primaryDir(), () => hold(random, 4000)),
  },
];

const modelFaults: readonly ModelReply[] = [{ hang: true }, { cut: 'within' }, { status: 503 }, { garbage: true }];

const surroundingFaults: Omit<FaultKind, 'lane'>[] = [
  {
    name: 'requests to the object storage fail, before or after they take effect',
    weight: 4,
    inject: async ({ s3 }, random) => {
      s3.fail(random.pick(['PUT', 'GET', 'HEAD', 'DELETE']), random.pick(s3Faults), 1 + random.int(4));
      await hold(random, 1000);
      return true;
    },
  },
  {
    name: 'the object storage is unavailable',
    weight: 2,
    inject: async ({ s3 }, random) => {
      const methods = ['PUT', 'GET', 'HEAD', 'POST', 'DELETE'];
      for (const method of methods) s3.fail(method, random.pick(['before', 'busy']), Infinity);
      await hold(random, 5000);
      for (const method of methods) s3.fail(method, 'busy', 0);
      return true;
    },
  },
  {
    name: 'the model hangs, breaks off, is unavailable, or answers nonsense',
    weight: 4,
    inject: async ({ model }, random) => {
      model.fault = random.pick(modelFaults);
      await hold(random, 6000);
      model.fault = null;
      return true;
    },
  },
  {
    name: 'the disk of a machine is full',
    weight: 3,
    findObstacle: ({ disks }) => (disks.machines.length > 0 ? undefined : 'needs the right to mount'),
    inject: ({ disks }, random) => whileFull(random.pick(disks.machines), () => hold(random, 4000)),
  },
];

export const faultKinds: readonly FaultKind[] = [
  ...processFaults.map((kind) => ({ ...kind, lane: 'processes' as const })),
  ...databaseFaults.map((kind) => ({ ...kind, lane: 'database' as const })),
  ...surroundingFaults.map((kind) => ({ ...kind, lane: 'surroundings' as const })),
];

const pieceBytes = 2 ** 20;

/** Fills a disk to the last byte, waits, and frees it. */
async function whileFull(folder: string, wait: () => Promise<void>): Promise<true> {
  const filler = join(folder, `filler-${randomBytes(4).toString('hex')}`);
  const file = openSync(filler, 'w');
  const piece = Buffer.alloc(pieceBytes);
  try {
    for (let bytes = pieceBytes; bytes >= 512;) {
      try {
        writeSync(file, piece, 0, bytes);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
        bytes /= 4;
      }
    }
    await wait();
  } finally {
    closeSync(file);
    rmSync(filler);
  }
  return true;
}
