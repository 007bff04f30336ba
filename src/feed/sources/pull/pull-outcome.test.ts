import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { startApp } from '../../../../test/support/harness.ts';
import { inOrg, queryRows } from '../../../platform/db/db.ts';
import type { EventBody } from '../../../platform/notifications/event-types.ts';
import { fileSource, kevCatalogue, kevRows } from '../../../../test/support/feed/kev-source.ts';

let now = new Date('2026-01-01T00:00:00.000Z');
const dayMs = 86_400_000;
const after = (days: number): void => void (now = new Date(now.getTime() + days * dayMs));
const app = await startApp({ clock: () => now });

async function start() {
  const org = await app.newOrg();
  const eventTypes = ['feed.source.failed', 'feed.source.silent'];
  const destination = { kind: 'webhook', name: 'x', url: 'https://hooks.example.com/', eventTypes };
  expect((await org.call('POST', '/api/destinations', destination)).status).toBe(200);
  const source = await fileSource(app, org, { kind: 'kev' });
  const told = async (): Promise<[string, string | null][]> => {
    const query = sql<{ type: string; body: string }>`
      select type, body from outbox where organization_id = ${org.id} order by id`;
    const found = await inOrg(app.deps.db, org.id, (tx) => queryRows(tx, query));
    return found.map(({ type, body }) => {
      const { data } = JSON.parse(body) as EventBody & {
        data: { id: string; silentSince: string | null; lastError: string | null };
      };
      expect(data.id).toBe(source.source.id);
      return [type, type.endsWith('failed') ? data.lastError : data.silentSince];
    });
  };
  return { org, source, told };
}

test('emits a failure event once, and again after a good pull', async () => {
  const { source, told } = await start();
  await source.pull(kevCatalogue(1, kevRows(3)));
  for (const content of ['{', '{', '{']) await source.pull(content);
  const failed: [string, string] = ['feed.source.failed', 'the document is not valid JSON'];
  expect(await told()).toEqual([failed]);
  await source.pull(kevCatalogue(1, kevRows(3)));
  await source.pull('{');
  expect(await told()).toEqual([failed, failed]);
});

test('emits a silence event once, after seven days or five times the usual interval, until there is a new item', async () => {
  const { org, source, told } = await start();
  const view = async () => (await org.call('GET', `/api/feed/sources/${source.source.id}`)).body;
  let size = 30;
  const pull = (more = 0) => source.pull(kevCatalogue(1, kevRows((size += more))));
  await pull();
  after(6);
  await pull();
  expect(await told()).toEqual([]);
  after(2);
  await pull();
  after(1);
  await pull();
  const silence: [string, string] = ['feed.source.silent', '2026-01-09T00:00:00.000Z'];
  expect(await told()).toEqual([silence]);
  expect((await view()).silentSince).toBe(silence[1]);
  await pull(1);
  expect((await view()).silentSince).toBeNull();
  // The usual interval is nine days, so the next silence begins after forty-five.
  after(44);
  await pull();
  expect(await told()).toHaveLength(1);
  after(2);
  await pull();
  expect(await told()).toHaveLength(2);
});
