import { afterAll, expect, test } from 'vitest';
import { startApp } from '../../../test/support/harness.ts';
import { kevCatalogue, kevRow, kevRows } from '../../../test/support/feed/kev-source.ts';
import { startServer } from '../../../test/support/feed/source-server.ts';

const app = await startApp({ env: { TOCSIN_FETCH_ALLOW: '127.0.0.1' } });
const server = await startServer();
afterAll(server.stop);

test('reads the source again in the next pull when a retraction is taken back during a pull', async () => {
  const org = await app.newOrg();
  const input = { kind: 'kev', name: 'KEV', url: `${server.base}/kev.json` };
  const { id } = (await org.call('POST', '/api/feed/sources', input)).body;
  const pull = async () => (await org.call('POST', `/api/feed/sources/${id}/pull`)).body;
  server.document('/kev.json', JSON.stringify(kevCatalogue(1, kevRows(2))));
  expect(await pull()).toMatchObject({ added: 2 });
  const item = (await org.call('GET', '/items?cve=CVE-2024-0001')).body.items[0].id;
  await org.call('POST', `/api/feed/items/${item}/retract`, { reason: 'wrong' });
  server.document('/kev.json', JSON.stringify(kevCatalogue(2, [kevRow(1, { notes: 'new' }), kevRow(2)])));
  expect(await pull()).toMatchObject({ corrected: 0, unchanged: 2 });
  const same = server.routes.get('/kev.json')!;
  let restored: Promise<unknown> | undefined;
  server.routes.set('/kev.json', (response, asked) => {
    restored = org.call('DELETE', `/api/feed/items/${item}/retract`).finally(() => same(response, asked));
  });
  expect(await pull()).toMatchObject({ corrected: 0, unchanged: 2 });
  expect(await restored).toMatchObject({ status: 200 });
  server.routes.set('/kev.json', same);
  expect(await pull()).toMatchObject({ corrected: 1, unchanged: 1 });
});
