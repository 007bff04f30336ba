import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { kevCatalogWith } from '../../../../test/support/feed/kev-document.ts';
import { pullDocument } from '../../../../test/support/api-client.ts';
import { callerOf } from '../../../../test/support/org-requests.ts';
import { startApp } from '../../../../test/support/harness.ts';
import { selectIn } from '../../../../test/support/select-rows.ts';

test('documents below 4 kB are stored as they are, and compressed after the setting of docs/operate/scale.md', async () => {
  const { deps, newOrg } = await startApp({ env: { TOCSIN_FETCH_ALLOW: '127.0.0.1' } });
  const call = callerOf(await newOrg());
  const pull = (name: string) => pullDocument(call, { kind: 'kev', name }, kevCatalogWith(name));
  await pull('Plain');
  await sql`alter table items reset (toast_tuple_target)`.execute(deps.db);
  await pull('Compressed');
  const stored = await selectIn(deps.db)`
    select source_name as source, pg_column_compression(doc) as compression, count(*)::int as n, max(length(doc)) < 4096 as "isShort"
    from items group by 1, 2 order by 1`;
  expect(stored).toEqual([
    { source: 'Compressed', compression: 'pglz', n: 3, isShort: true },
    { source: 'Plain', compression: null, n: 3, isShort: true },
  ]);
  const { items } = await call('GET', '/items');
  expect(items.map((item: { event: { title: string } }) => item.event.title).toSorted()).toEqual(
    ['Compressed', 'Plain'].flatMap((name) =>
      [0, 1, 2].map((n) => expect.stringContaining(`${name} vulnerability ${n}`)),
    ),
  );
});
