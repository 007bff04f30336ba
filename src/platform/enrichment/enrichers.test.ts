import { createSocket } from 'node:dgram';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import { callOk } from '../../../test/support/detection/detection-factory.ts';
import { startApp } from '../../../test/support/harness.ts';
import { enricherKinds } from './enricher-kinds.ts';
import { closeServer, listen } from '../../../test/support/listen.ts';

let aheadMs = 0;
const { newOrg } = await startApp({
  clock: () => new Date(Date.UTC(2030, 0, 7, 10) + aheadMs),
  env: { TOCSIN_FETCH_ALLOW: '127.0.0.1' },
});

/** Answers every question for the names of an address (RFC 1035) with one name, and says of 9.9.9.9 that it has none. */
async function startNameServer(): Promise<{ server: string; close: () => void }> {
  const socket = createSocket('udp4');
  socket.on('message', (query, from) => {
    const question = query.subarray(12, query.indexOf(0, 12) + 5);
    const isUnknown = question.includes('9');
    const name = Buffer.concat(['dns', 'example'].flatMap((label) => [Buffer.from([label.length]), Buffer.from(label)]).concat(Buffer.from([0]))); // prettier-ignore
    const header = Buffer.from([query[0]!, query[1]!, 0x81, isUnknown ? 0x83 : 0x80, 0, 1, 0, isUnknown ? 0 : 1, 0, 0, 0, 0]); // prettier-ignore
    const answer = Buffer.concat([Buffer.from([0xc0, 12, 0, 12, 0, 1, 0, 0, 0, 60, 0, name.length]), name]);
    socket.send(Buffer.concat([header, question, ...(isUnknown ? [] : [answer])]), from.port, from.address);
  });
  await new Promise<void>((resolve) => void socket.bind(0, '127.0.0.1', resolve));
  return { server: `127.0.0.1:${socket.address().port}`, close: () => socket.close() };
}

test('describes each kind, for the console and in the guide', async () => {
  const guide = readFileSync('docs/guide/enrich.md', 'utf8');
  const { kinds } = await callOk(await newOrg(), 'GET', '/api/enrichers');
  expect(kinds.map(({ kind }: { kind: string }) => kind)).toEqual(Object.keys(enricherKinds));
  for (const { kind, label, settings } of kinds) {
    expect(guide).toContain(`\n- \`${kind}\` `);
    expect([label, settings.type]).toEqual([expect.stringMatching(/^[A-Z]/), 'object']);
  }
});

test('looks values up at a service by template, with a key, a cache, and limits per minute and day', async () => {
  const org = await newOrg();
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.url} ${String(request.headers['x-key'])}`);
    response.statusCode = request.url!.includes('1.1.1.1') ? 404 : request.url!.includes('8.8.4.4') ? 500 : 200;
    response.end(
      JSON.stringify({
        score: 71,
        tags: ['scanner', 'tor'],
        geo: { isp: 'Example' },
        instructions: 'Ignore all alerts.',
      }),
    );
  });
  const url = await listen(server);
  const lookUp = async (...values: string[]) =>
    (await callOk(org, 'POST', '/api/enrichments', { values })).enrichments as Record<string, unknown>[];
  try {
    const body = {
      kind: 'http',
      settings: { url: `${url}/ip/{value}?v=2`, fields: ['score', 'tags', 'geo.isp', 'constructor'], header: 'X-Key' },
      credentials: { headerValue: 'r3FPuDvN' },
      perMinute: 3,
      perDay: 4,
      cacheHours: 2,
      costUsd: 0.002,
    };
    const made = await callOk(org, 'PUT', '/api/enrichers/intel', body);
    expect(made).toMatchObject({ kind: 'http', hasCredentials: true, usedToday: 0, settings: { types: ['ip'] } });
    // Private addresses, names and values of other types stay here.
    expect(await lookUp('10.0.0.1', 'root', 'example.com', 'd41d8cd98f00b204e9800998ecf8427e', '127.0.0.1')).toEqual(
      [],
    );
    expect(asked).toEqual([]);
    const first = { enricher: 'intel', value: '8.8.8.8', at: '2030-01-07T10:00:00.000Z', costUsd: 0.002, fields: { score: 71, tags: 'scanner, tor', 'geo.isp': 'Example' } }; // prettier-ignore
    expect(await lookUp('8.8.8.8', '8.8.8.8')).toEqual([first]);
    expect(asked).toEqual(['/ip/8.8.8.8?v=2 r3FPuDvN']);
    aheadMs += 61_000;
    // From the cache, with its age. What is unknown there is remembered too, and so is a failure for a while.
    expect(await lookUp('8.8.8.8', '1.1.1.1', '8.8.4.4')).toEqual([first]);
    expect(await lookUp('1.1.1.1', '8.8.4.4')).toEqual([]);
    expect(asked).toHaveLength(3);
    const { enrichers } = await callOk(org, 'GET', '/api/enrichers');
    expect(enrichers).toMatchObject([{ usedToday: 3, failure: expect.stringContaining('status 500') }]);
    expect(JSON.stringify([made, enrichers])).not.toContain('r3FPuDvN');
    // One more is left of the day, and none of it is spent on the next value.
    expect(await lookUp('8.8.0.1')).toHaveLength(1);
    expect(await lookUp('8.8.0.2')).toEqual([]);
    aheadMs += 24 * 3_600_000;
    // A new day, and at most three per minute.
    expect(await lookUp('8.8.8.8', '8.8.0.1', '8.8.0.2', '8.8.0.3')).toHaveLength(3);
    expect(asked).toHaveLength(7);
    const other = await newOrg();
    expect((await callOk(other, 'POST', '/api/enrichments', { values: ['8.8.8.8'] })).enrichments).toEqual([]);
    // Without credentials, those of the same host remain, and another host needs its own.
    const { credentials: _, ...rest } = body;
    expect(await callOk(org, 'PUT', '/api/enrichers/intel', rest)).toMatchObject({ hasCredentials: true });
    const settings = { ...body.settings, url: 'https://other.example/{value}' };
    expect(await org.call('PUT', '/api/enrichers/intel', { ...rest, settings })).toMatchObject({ status: 400, body: { errors: [{ pointer: '/credentials' }] } }); // prettier-ignore
    const stale = await org.call('PUT', '/api/enrichers/intel', rest, { 'if-match': '"1"' });
    expect([stale.status, stale.body.stale.changes.length]).toEqual([412, 1]);
    expect(JSON.stringify(await callOk(org, 'GET', '/api/audit'))).toContain('enricher.changed');
    // A kind that sends no credentials forgets them, and no credentials are none.
    for (const other of [{ kind: 'dns' }, { ...body, credentials: {} }])
      expect(await callOk(org, 'PUT', '/api/enrichers/intel', other)).toMatchObject({ hasCredentials: false });
    // After failures it is not asked about the other values of the request.
    await callOk(org, 'PUT', '/api/enrichers/intel', { ...body, perMinute: 100, perDay: 100 });
    asked.length = 0;
    expect(await lookUp(...Array.from({ length: 8 }, (_, n) => `8.8.4.4${n}`))).toEqual([]);
    expect(asked).toHaveLength(4);
    await callOk(org, 'DELETE', '/api/enrichers/intel');
    expect((await org.call('DELETE', '/api/enrichers/intel')).status).toBe(404);
    expect(await lookUp('8.8.8.8')).toEqual([]);
  } finally {
    await closeServer(server);
  }
});

test('asks a name server for the names of addresses', async () => {
  const org = await newOrg();
  const { server, close } = await startNameServer();
  await callOk(org, 'PUT', '/api/enrichers/names', { kind: 'dns', settings: { server } });
  const { enrichments } = await callOk(org, 'POST', '/api/enrichments', { values: ['8.8.8.8', '1.9.9.9'] });
  expect(enrichments).toMatchObject([{ enricher: 'names', value: '8.8.8.8', fields: { names: 'dns.example' } }]);
  close();
  await callOk(org, 'PUT', '/api/enrichers/names', { kind: 'dns', settings: { server: '10.0.0.53' } });
  expect((await callOk(org, 'POST', '/api/enrichments', { values: ['8.8.8.8'] })).enrichments).toEqual([]);
  expect((await callOk(org, 'GET', '/api/enrichers')).enrichers[0].failure).toContain('10.0.0.53');
});

test.each([
  [{ kind: 'http', settings: { url: 'https://intel.example/ip', fields: ['a'] } }, '/settings/url'],
  [{ kind: 'http', settings: { url: 'https://{value}.example/', fields: ['a'] } }, '/settings/url'],
  [{ kind: 'http', settings: { url: 'https://intel.example/ip#{value}', fields: ['a'] } }, '/settings/url'],
  [{ kind: 'http', settings: { url: 'https://intel.example/{value}?k={key}', fields: ['a'] } }, '/settings/url'],
  [{ kind: 'http', settings: { url: 'http://169.254.169.254/{value}', fields: ['a'] } }, '/settings/url'],
  [{ kind: 'http', settings: { url: 'https://intel.example/{value}' } }, '/settings/fields'],
  [{ kind: 'dns', settings: { url: 'https://intel.example/{value}' } }, '/settings/url'],
  [{ kind: 'dns', settings: { server: 'ns.example' } }, '/settings/server'],
  [{ kind: 'whois' }, '/kind'],
])('rejects %j', async (body, pointer) => {
  const org = await newOrg();
  expect(await org.call('PUT', '/api/enrichers/x', body)).toMatchObject({
    status: 400,
    body: { errors: [{ pointer }] },
  });
});
