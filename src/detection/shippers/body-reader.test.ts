import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, expect, test } from 'vitest';
import { createTestFolder } from '../../../test/support/detection/log-store.ts';
import { uuidv7 } from '../../platform/lib/ids.ts';
import { toOrgId } from '../../platform/lib/org-id.ts';
import { readLogBody, type LogBodyTask } from '../log-ingest/body/read-log-body.ts';
import { createBodyReader } from './body-reader.ts';

const reader = createBodyReader();
afterAll(() => reader.close());
const folder = createTestFolder();
const [alice, bob] = [toOrgId(uuidv7()), toOrgId(uuidv7())];
const taskOf = (body: Uint8Array, dataset = 'auth'): LogBodyTask => ({
  batchId: uuidv7(),
  folder,
  dataset,
  body: new Uint8Array(body),
  nowMicros: 0,
  timeField: undefined,
});
const bomb = gzipSync('{}\n'.repeat(160_000));

test('reads the same in a thread as in this thread', async () => {
  const lines = ['{"user":"ana","at":{"n":1}}', 'no json', '{"time":"2024-05-01T10:00:00Z","n":1.5}', '', '[1]'];
  const body = gzipSync(lines.join('\n'));
  const task = taskOf(body);
  const [inThread, here] = [await reader.read(alice, task), await readLogBody(taskOf(body))];
  const path = join('auth', `${task.batchId}.events`);
  expect(inThread).toEqual({ ...here, hash: new Uint8Array(here.hash), file: { ...here.file!, path } });
  expect(readFileSync(join(folder, path), 'utf8')).toContain('\t{"user":"ana","at":{"n":1}}\n');
});

test('keeps the event loop free while it reads 160,000 events from half a kB of gzip', async () => {
  expect(bomb.length).toBeLessThan(1_000);
  let turns = 0;
  const timer = setInterval(() => void (turns += 1), 5);
  const { counts } = await reader.read(alice, taskOf(bomb));
  clearInterval(timer);
  expect(counts).toMatchObject({ accepted: 160_000, rejectedTotal: 0, undated: 160_000 });
  // Read in this thread, the body allows one turn per 64 KiB: about seven.
  expect(turns).toBeGreaterThan(35);
});

test('does not make the events of one organization wait for the large bodies of another', async () => {
  const finished: string[] = [];
  const large = Array.from({ length: 6 }, async () => {
    await reader.read(alice, taskOf(gzipSync('{}\n'.repeat(60_000)), 'large'));
    finished.push('large');
  });
  await reader.read(bob, taskOf(Buffer.from('{"user":"bob"}\n'.repeat(2_000)), 'small'));
  finished.push('small');
  await Promise.all(large);
  expect(finished[0]).toBe('small');
});

test('returns the error of a body with its code and leaves no file', async () => {
  const broken = [
    ['malformed_json', Buffer.from(`[${'{"a":1},'.repeat(5_000)}`)],
    ['malformed_json', Buffer.from([0x1f, 0x8b, 8, 0, 1, 2, 3])],
    ['payload_too_large', gzipSync(`{}${'\n'.repeat(1_000_002)}`)],
  ] as const;
  for (const [code, body] of broken)
    await expect(reader.read(alice, taskOf(body, 'broken'))).rejects.toMatchObject({ code });
  expect(existsSync(join(folder, 'broken')) ? readdirSync(join(folder, 'broken')) : []).toEqual([]);
});

test('refuses bodies of an organization that has 128 MiB waiting, and serves the others', async () => {
  const large = new Uint8Array(32 * 1024 * 1024).fill(32);
  const sent = Array.from({ length: 4 }, () => reader.read(alice, taskOf(large)));
  await expect(reader.read(alice, taskOf(large))).rejects.toMatchObject({ code: 'unavailable', status: 503 });
  const { counts } = await reader.read(bob, taskOf(Buffer.from('{"user":"bob"}\n'.repeat(2_000))));
  expect(counts.accepted).toBe(2_000);
  await Promise.all(sent);
});
