import { spawn, type ChildProcess } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { startLogStore } from '../../../test/support/detection/log-store.ts';
import { inOrg } from '../../platform/db/db.ts';
import { removeOrphanedFiles } from '../log-compaction/clean-segments.ts';

const store = await startLogStore();

function startSender(org: string, body: string): { child: ChildProcess; output: Promise<string> } {
  const args = [
    '--disable-warning=ExperimentalWarning',
    resolve(import.meta.dirname, '../../../test/support/detection/log-sender.ts'),
    store.url,
    store.deps.segmentStore.location,
    org,
    body,
  ];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
  return { child, output: new Promise((done) => child.on('exit', () => done(text.trim()))) };
}

test('a sender killed between writing and publishing leaves an invisible file, and accepted events remain', async () => {
  const org = await store.newOrg();
  expect(await startSender(org, '{"n":1}').output).toBe('accepted');
  const folder = join(store.deps.segmentStore.folderOf(org), 'auth');
  const lost = await inOrg(store.deps.db, org, async (tx) => {
    // Holding the row lock stops the other process right before it publishes.
    await sql`select 1 from datasets where organization_id = ${org} for update`.execute(tx);
    const { child, output } = startSender(org, '{"n":2}');
    await expect.poll(() => readdirSync(folder).length).toBe(2);
    const waiting = sql<{ n: number }>`select count(*) as n from pg_locks where not granted`;
    await expect.poll(async () => (await waiting.execute(tx)).rows[0]!.n).toBeGreaterThan(0);
    child.kill('SIGKILL');
    return output;
  });
  expect(lost).toBe('');
  expect((await store.search(org, 'SELECT n FROM auth')).rows).toEqual([{ n: 1 }]);
  expect(await startSender(org, '{"n":2}').output).toBe('accepted');
  expect(await removeOrphanedFiles(store.deps, 0)).toBe(1);
  expect((await store.search(org, 'SELECT n FROM auth ORDER BY n')).rows).toEqual([{ n: 1 }, { n: 2 }]);
});
