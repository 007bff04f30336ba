import { expect, test } from 'vitest';
import type { SourceKind } from '../../../src/feed/formats/registry.ts';
import { sourceKinds as kinds, startHostile, startTrap } from './hostile.ts';

const { org, server, pullFrom } = await startHostile();
const trap = await startTrap();
const refused = /not a public address|are not supported|cannot be (?:reached|resolved)|user name/;
const port = new URL(trap.base).port;

const places: Record<string, string> = {
  'another address of this machine': trap.base,
  'the metadata of a cloud': 'http://169.254.169.254/latest/meta-data',
  'a name of a private address': `http://ip6-localhost.:${port}/`,
  IPv6: `http://[::1]:${port}/`,
  'IPv4 in IPv6': `http://[::ffff:127.0.0.2]:${port}/`,
  'a number': `http://2130706434:${port}/`,
  octal: `http://0177.0.0.2:${port}/`,
  nothing: `http://0.0.0.0:${port}/`,
  'a file': 'file:///etc/passwd',
  data: 'data:application/json,[]',
  'a password': `http://user:word@127.0.0.1:${port}/`,
};

test.each(Object.entries(places))('no source kind follows a redirect to %s', async (_name, location) => {
  for (const kind of kinds) {
    const { error, added } = await pullFrom(kind, (response) => response.writeHead(302, { location }).end());
    expect([added, error], kind).toEqual([0, expect.stringMatching(refused)]);
  }
  expect(trap.asked).toEqual([]);
});

test('checks every redirect of a chain', async () => {
  server.routes.set('/hop', (response) => response.writeHead(307, { location: '/hop2' }).end());
  server.routes.set('/hop2', (response) => response.writeHead(308, { location: `${trap.base}/inside` }).end());
  const { error } = await pullFrom('kev', (response) => response.writeHead(301, { location: '/hop' }).end());
  expect(error).toMatch(refused);
  expect(trap.asked).toEqual([]);
});

/** Documents that link to further ones, all of which point to the trap. */
const indexes: [SourceKind, string, string][] = [
  ['taxii', 'api_roots', JSON.stringify({ title: 'x', api_roots: [`${trap.base}/api/`] })],
  ['csaf', 'feeds', JSON.stringify({ distributions: [{ rolie: { feeds: [{ url: `${trap.base}/feed.json` }] } }] })],
  ['csaf', 'directories', JSON.stringify({ distributions: [{ directory_url: `${trap.base}/dir` }] })],
  ['csaf', 'entries', JSON.stringify({ feed: { entry: [{ content: { src: `${trap.base}/a.json` } }] } })],
  ['rss', 'links', `<rss><channel><item><title>x</title><link>${trap.base}/a</link></item></channel></rss>`],
];

test.each(indexes)('%s does not follow %s to this machine', async (kind, _name, index) => {
  const { error, added, skipped } = await pullFrom(kind, index);
  expect(added).toBe(0);
  expect(error ?? skipped.map(({ reason }) => reason).join()).toMatch(refused);
  expect(trap.asked).toEqual([]);
});

test('creates a source with a private address, and its pull fails without sending a request', async () => {
  for (const url of [trap.base, `http://[::1]:${port}/`, 'http://10.0.0.1/x', 'http://metadata.google.internal/']) {
    const { body } = await org.call('POST', '/api/feed/sources', { kind: 'kev', name: 'x', url });
    const pulled = await org.call('POST', `/api/feed/sources/${body.id}/pull`);
    expect(pulled.body.error, url).toMatch(refused);
  }
  for (const url of ['file:///etc/passwd', 'http://u:p@a.example/', 'gopher://a/', 'javascript:1', 'http://', ''])
    expect((await org.call('POST', '/api/feed/sources', { kind: 'kev', name: 'x', url })).status, url).toBe(400);
  expect(trap.asked).toEqual([]);
});
