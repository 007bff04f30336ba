import { expect, test } from 'vitest';
import { createFetchSession, type FetchSessionResult } from '../fetch-session.ts';
import { serverOfTests } from '../../../../test/support/feed/source-server.ts';
import { rss } from './rss.ts';

const server = await serverOfTests();

const now = new Date('2026-03-02T00:00:00Z');
const collect = (cursor?: unknown): Promise<FetchSessionResult> =>
  rss.fetch!(
    createFetchSession({
      url: `${server.base}/feed`,
      cursor,
      now,
      allow: ['127.0.0.1', 'localhost'],
      digest: async (documents) => rss.digest!(documents),
    }),
  )!;
const publish = (links: string[]): void => {
  const items = links.map((url) => ({ id: url, url, title: url, content_text: 'What the feed says.' }));
  server.document('/feed', JSON.stringify({ version: 'https://jsonfeed.org/version/1.1', items }));
};
const links = (count: number, base = server.base): string[] => Array.from({ length: count }, (_, n) => `${base}/p${n}`);

test.each([
  ['fails', 500, {}],
  ['asks for patience', 429, { 'retry-after': '3600' }],
])('stops requesting pages of a host that %s and reads the entries from the feed', async (_name, status, headers) => {
  for (const { pathname } of links(30).map((link) => new URL(link)))
    server.routes.set(pathname, (response) => void response.writeHead(status, headers).end());
  const elsewhere = `${server.base.replace('127.0.0.1', 'localhost')}/good`;
  server.document('/good', '<p>Text</p>', 'text/html');
  publish([...links(30), elsewhere]);
  const { parts, skipped, more } = await collect();
  expect([parts.length, skipped, more]).toEqual([31, [], false]);
  expect(parts.filter(({ bytes }) => bytes.length > 0).map(({ name }) => name)).toEqual([elsewhere]);
  expect(server.asked.filter(({ path }) => path.startsWith('/p')).length).toBeLessThan(10);
});

test('requests all pages of a host although some are missing', async () => {
  publish(links(20));
  const { parts } = await collect();
  expect([parts.length, server.asked.length]).toEqual([20, 21]);
});
