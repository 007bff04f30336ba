import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { listSmallDisks, mountSmallDisk, unmountSmallDisk } from './small-disk.ts';
import { getTestDir, removeStale } from './test-dir.ts';

const parent = mkdtempSync(join(getTestDir(), 'stale-'));
const endedPid = spawnSync(process.execPath, ['--version']).pid;
const stale = join(parent, `tocsin-test-${endedPid}`);
const folder = join(stale, 'data of a test/logs');
mkdirSync(folder, { recursive: true });
const isMounted = mountSmallDisk(folder, '512k');
writeFileSync(join(folder, 'event'), 'x');
const running = join(parent, `tocsin-test-${process.pid}`);
mkdirSync(running);
afterAll(() => {
  for (const disk of listSmallDisks(parent)) unmountSmallDisk(disk);
  rmSync(parent, { recursive: true, force: true });
});

test.skipIf(!isMounted)(
  'removes the directory of a killed run with the disk mounted in it (needs the right to mount)',
  () => {
    expect(listSmallDisks(parent)).toEqual([folder]);
    removeStale(parent);
    expect([existsSync(stale), existsSync(running), listSmallDisks(parent)]).toEqual([false, true, []]);
  },
);
