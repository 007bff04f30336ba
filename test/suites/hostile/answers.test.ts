import { expect, test } from 'vitest';
import type { SourceKind } from '../../../src/feed/formats/registry.ts';
import type { Route } from '../../support/feed/source-server.ts';
import { startHostile } from './hostile.ts';

const { org, pullFrom } = await startHostile();
const kinds: SourceKind[] = ['kev', 'stix', 'taxii', 'misp', 'csaf', 'osv', 'nvd', 'rss', 'csv'];

/** Writes for as long as somebody reads. */
const endless: Route = (response) => {
  const chunk = Buffer.alloc(1024 * 1024, 0x20);
  const write = (): void => {
    if (!response.destroyed) response.write(chunk, () => setImmediate(write));
  };
  response.writeHead(200, { 'content-type': 'application/json' });
  write();
};

test('an endless answer is cut at its bound, by every kind', { timeout: 180_000 }, async () => {
  for (const kind of kinds) {
    const { error, added } = await pullFrom(kind, endless);
    // What names the roots and collections of a TAXII server is small.
    const bound = kind === 'taxii' ? 2 ** 20 : 2 ** 25;
    expect([added, error], kind).toEqual([0, `the answer is larger than ${bound} bytes`]);
  }
});

const answers: Record<string, [Route, RegExp]> = {
  'cut off': [
    (response) => {
      response.writeHead(200, { 'content-length': '1000' });
      response.write('{"half":');
      setTimeout(() => response.destroy(), 20);
    },
    /cut off|aborted/,
  ],
  'without a word': [(response) => void response.socket?.destroy(), /cannot be reached/],
  'that is no HTTP': [(response) => void response.socket?.end('SSH-2.0-OpenSSH_9.6\r\n'), /cannot be reached/],
  'with headers of a megabyte': [
    (response) =>
      void response.socket?.end(`HTTP/1.1 200 OK\r\n${`x-a: ${'b'.repeat(1_000)}\r\n`.repeat(1_000)}\r\n{}`),
    /cannot be reached/,
  ],
  'that sends round in circles': [
    (response, { path }) => void response.writeHead(302, { location: path }).end(),
    /more than 5 redirects/,
  ],
  'of status 204': [(response) => void response.writeHead(204).end(), /status 204/],
  'of status 206': [(response) => void response.writeHead(206).end('{}'), /status 206/],
  'of status 401': [(response) => void response.writeHead(401).end(), /status 401/],
};

test.each(Object.entries(answers))('an answer %s is a bad pull of every kind', async (_name, [answer, reason]) => {
  for (const kind of kinds) {
    const { error, added } = await pullFrom(kind, answer);
    expect([added, error], kind).toEqual([0, expect.stringMatching(reason)]);
  }
});

test('a server that asks for a day of patience gets none, and the source rests', async () => {
  const { error } = await pullFrom('nvd', (response) => response.writeHead(429, { 'retry-after': '86400' }).end());
  expect(error).toMatch(/status 429/);
  const { sources } = (await org.call('GET', '/api/feed/sources?limit=200')).body;
  expect(sources.find(({ kind }: { kind: string }) => kind === 'nvd')).toMatchObject({ failures: 1 });
});
