import { expect, test } from 'vitest';
import { sql } from 'kysely';
import { startLogStore } from '../../../test/support/detection/log-store.ts';
import { acrossOrgs, queryRows } from '../../platform/db/db.ts';
import { uuidv7 } from '../../platform/lib/ids.ts';

const store = await startLogStore();

test('emits dataset.drifted at most once per column and day, and when a type changes', async () => {
  const org = await store.newOrg();
  await acrossOrgs(store.deps.db, (tx) =>
    sql`
      insert into destinations (organization_id, id, kind, name, shown_url, sealed, event_types, created_at, updated_at)
      values (${org}, ${uuidv7()}, 'webhook', 'x', 'x', ''::bytea, ${['dataset.drifted']}::text[], now(), now())`.execute(
      tx,
    ),
  );
  const drifted = async (): Promise<unknown[]> => {
    const rows = await acrossOrgs(
      store.deps.db,
      (tx) => queryRows<{ body: string }>(tx)`select body from outbox where organization_id = ${org} order by at, id`,
    );
    return rows.map(({ body }) => JSON.parse(body).data);
  };
  store.at('2024-06-01T00:00:00Z');
  await store.send(org, 'web', [
    { n: 1, ok: true },
    { n: 2, ok: true },
  ]);
  expect(await drifted()).toEqual([]);
  for (const minute of ['01', '02']) {
    store.at(`2024-06-01T00:${minute}:00Z`);
    await store.send(org, 'web', [{ n: minute }, { n: 5 }]);
  }
  expect(await drifted()).toMatchObject([
    { dataset: 'web', column: 'n', type: 'BIGINT', previousType: null, valueType: 'string', count: 1 },
  ]);
  store.at('2024-06-02T00:00:00Z');
  await store.send(org, 'web', [{ n: 'x', ok: 'x' }, { ok: 'y' }]);
  expect(await drifted()).toMatchObject([
    { column: 'n' },
    { column: 'n', type: 'BIGINT', at: '2024-06-02T00:00:00.000Z' },
    { column: 'ok', type: 'VARCHAR', previousType: 'BOOLEAN' },
  ]);
});
