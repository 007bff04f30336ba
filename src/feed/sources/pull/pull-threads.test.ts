import { afterAll, expect, test } from 'vitest';
import { startApp, type TestOrg } from '../../../../test/support/harness.ts';
import { rssFeed, sentences } from '../../../../test/support/feed/rss-documents.ts';
import { startServer } from '../../../../test/support/feed/source-server.ts';
import { createPullThreads } from './pull-threads.ts';

const app = await startApp({ env: { TOCSIN_FETCH_ALLOW: '127.0.0.1' } });
const pulls = createPullThreads(app.deps);
afterAll(pulls.close);
app.deps.runPull = pulls.runPull;
const server = await startServer();
afterAll(server.stop);

const pull = async (org: TestOrg, kind: string, path: string) => {
  const source = await org.call('POST', '/api/feed/sources', { kind, name: path, url: `${server.base}${path}` });
  return (await org.call('POST', `/api/feed/sources/${source.body.id}/pull`)).body;
};
const list = (lines: number, name: string): string =>
  Array.from({ length: lines }, (_, index) => `${name}-${index}.evil-host.top`).join('\n');

test('pulls in a thread, keeps the event loop free, and applies a long list in several transactions', async () => {
  const org = await app.newOrg();
  server.document('/long.txt', list(19_300, 'a'));
  let turns = 0;
  const timer = setInterval(() => void (turns += 1), 5);
  expect(await pull(org, 'csv', '/long.txt')).toMatchObject({ added: 512, skipped: [] });
  clearInterval(timer);
  expect(turns).toBeGreaterThan(100);
  const pages = await Promise.all([1, 512].map((page) => org.call('GET', `/items?perPage=1&page=${page}`)));
  const [newest, oldest] = pages.map(({ body }) => body.items[0].addedToFeedAt as string);
  expect(pages[0]!.body.total).toBe(512);
  expect(newest! > oldest!).toBe(true);
});

test('extracts texts with the threads of the process and reports a bad document', async () => {
  const org = await app.newOrg();
  const entries = [{ id: 'one', title: 'A report', html: `<p>${sentences(20).join(' ')} CVE-2024-0001.</p>` }];
  server.document('/feed.xml', rssFeed(entries));
  expect(await pull(org, 'rss', '/feed.xml')).toMatchObject({ added: 1, skipped: [] });
  server.document('/bad.json', 'no json');
  expect((await pull(org, 'stix', '/bad.json')).error).toMatch(/not valid JSON/);
});

test('shares the threads between organizations: a small pull does not wait for three large ones', async () => {
  const [large, small] = [await app.newOrg(), await app.newOrg()];
  const finished: string[] = [];
  // Starts every thread, because a busy machine takes longer to start one than to pull a long list.
  server.document('/first.txt', list(20, 'first'));
  await Promise.all([large, small].map((org) => pull(org, 'csv', '/first.txt')));
  const pulling = ['x', 'y', 'z'].map(async (name) => {
    server.document(`/${name}.txt`, list(40_000, name));
    await pull(large, 'csv', `/${name}.txt`);
    finished.push('large');
  });
  server.document('/small.txt', list(20, 'small'));
  expect(await pull(small, 'csv', '/small.txt')).toMatchObject({ added: 1 });
  finished.push('small');
  await Promise.all(pulling);
  expect(finished[0]).toBe('small');
});
