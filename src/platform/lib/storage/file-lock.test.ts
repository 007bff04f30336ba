import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { type FileLock, type LockKind, tryLock } from './file-lock.ts';
import { newDataDir, removeDataDirs } from '../../../../test/support/platform/postgres-holder.ts';

const folder = newDataDir();
afterAll(removeDataDirs);

const module = new URL('file-lock.ts', import.meta.url).href;
const program = `
const { tryLock } = await import(${JSON.stringify(module)});
globalThis.lock = tryLock(process.argv[1], 'one');
process.stdout.write('held');
setInterval(() => {}, 1000);`;

test('releases the lock when its process is killed', async () => {
  const file = join(folder, 'killed');
  const child = spawn(process.execPath, ['--input-type=module', '-e', program, file], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  expect(tryLock(file, 'one')).toBeUndefined();
  child.kill('SIGKILL');
  await once(child, 'exit');
  const lock = tryLock(file, 'one');
  expect(lock).toBeDefined();
  lock?.release();
});

test('any sequence of locks and releases respects the lock kinds', () => {
  const step = fc.record({ slot: fc.nat(3), kind: fc.constantFrom<LockKind>('one', 'shared', 'all') });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), fc.nat(), (steps, seed) => {
      const file = join(folder, `model-${seed}`);
      const held = new Map<number, { kind: LockKind; lock: FileLock }>();
      for (const { slot, kind } of steps) {
        const before = held.get(slot);
        held.delete(slot);
        before?.lock.release();
        const kinds = [...held.values()].map((each) => each.kind);
        const lock = tryLock(file, kind);
        expect(lock !== undefined, `${kind} beside ${kinds.join()}`).toBe(mayHold(kind, kinds));
        if (lock) held.set(slot, { kind, lock });
      }
      for (const { lock } of held.values()) lock.release();
    }),
    { numRuns: 60 },
  );
});

function mayHold(kind: LockKind, others: LockKind[]): boolean {
  if (kind === 'all') return others.length === 0;
  if (kind === 'shared') return !others.includes('all');
  return !others.includes('all') && !others.includes('one');
}

test('tolerates a second release and reports an unusable lock file', () => {
  const lock = tryLock(join(folder, 'twice'), 'one')!;
  lock.release();
  lock.release();
  expect(() => tryLock(join(folder, 'missing/lock'), 'one')).toThrow(/missing\/lock cannot be opened/);
});
