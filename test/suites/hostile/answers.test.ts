import { expect, test } from 'vitest';
import type { Route } from '../../support/feed/source-server.ts';
import { sourceKinds as kinds, startHostile } from './hostile.ts';

const { org, pullFrom } = await startHostile();

/** Writes until the reader stops. */
const endless: Route = (response) => {
  const chunk = Buffer.alloc(1024 * 1024, 0x20);
  const write = (): void => {
    if (!response.destroyed) response.write(chunk, () => setImmediate(write));
  };
  response.writeHead(200, { 'content-type': 'application/json' });
  write();
};

test('a source cuts an endless response at the limit of its kind', async () => {
  // One kind stands for those that share the reader of a response.
  for (const kind of [kinds[0]!, 'taxii'] as const) {
    const { error, added } = await pullFrom(kind, endless);
    // The discovery documents of a TAXII server have a smaller limit.
    const bound = kind === 'taxii' ? 2 ** 20 : 2 ** 27;
    expect([added, error], kind).toEqual([0, `the response is larger than ${bound} bytes`]);
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
  'that closes the connection': [(response) => void response.socket?.destroy(), /cannot be reached/],
  'that is not HTTP': [(response) => void response.socket?.end('SSH-2.0-OpenSSH_9.6\r\n'), /cannot be reached/],
  'with headers of a megabyte': [
    (response) =>
      void response.socket?.end(`HTTP/1.1 200 OK\r\n${`x-a: ${'b'.repeat(1_000)}\r\n`.repeat(1_000)}\r\n{}`),
    /cannot be reached/,
  ],
  'with a redirect loop': [
    (response, { path }) => void response.writeHead(302, { location: path }).end(),
    /more than 5 redirects/,
  ],
  'of status 204': [(response) => void response.writeHead(204).end(), /status 204/],
  'of status 206': [(response) => void response.writeHead(206).end('{}'), /status 206/],
  'of status 401': [(response) => void response.writeHead(401).end(), /status 401/],
};

test.each(Object.entries(answers))(
  'a response %s fails the pull of every source kind',
  async (_name, [answer, reason]) => {
    for (const kind of kinds) {
      const { error, added } = await pullFrom(kind, answer);
      expect([added, error], kind).toEqual([0, expect.stringMatching(reason)]);
    }
  },
);

test('does not wait for a server that asks for a day, and pauses the source', async () => {
  const { error } = await pullFrom('nvd', (response) => response.writeHead(429, { 'retry-after': '86400' }).end());
  expect(error).toMatch(/status 429/);
  const { sources } = (await org.call('GET', '/api/feed/sources?limit=200')).body;
  expect(sources.find(({ kind }: { kind: string }) => kind === 'nvd')).toMatchObject({ failures: 1 });
});
