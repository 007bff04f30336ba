import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { startApp } from '../../../test/support/harness.ts';

const { app, newOrg, newKey } = await startApp({ clock: () => new Date('2024-06-01T00:00:00Z') });

test('lists datasets with the columns of the events received', async () => {
  const org = await newOrg();
  const lines =
    '{"@timestamp":"2024-05-01T00:00:00Z","user":{"name":"ana"}}\n{"@timestamp":"2024-05-02T00:00:00Z","n":1}';
  const sent = await org.call('POST', '/api/logs/auth', lines, { 'content-type': 'application/x-ndjson' });
  expect(sent).toMatchObject({ status: 200, body: { accepted: 2, rejected: [], duplicateOf: null } });
  const { body } = await org.call('GET', '/api/logs');
  expect(body).toEqual({
    datasets: [
      {
        name: 'auth',
        events: 2,
        firstEventAt: '2024-05-01T00:00:00.000Z',
        lastEventAt: '2024-05-02T00:00:00.000Z',
        lastIngestedAt: '2024-06-01T00:00:00.000Z',
        shortfall: null,
        columns: [
          { name: '_id', type: 'VARCHAR' },
          { name: '_time', type: 'TIMESTAMP' },
          { name: '_ingested', type: 'TIMESTAMP' },
          { name: '_event', type: 'JSON' },
          { name: '@timestamp', type: 'TIMESTAMP' },
          { name: 'user', type: 'JSON' },
          { name: 'user.name', type: 'VARCHAR' },
          { name: 'n', type: 'BIGINT' },
        ],
      },
    ],
  });
  expect((await (await newOrg()).call('GET', '/api/logs')).body).toEqual({ datasets: [] });
});

test.each<[string, string | Buffer, Record<string, string>]>([
  ['an array', '[{"a":1},{"a":2}]', { 'content-type': 'application/json; charset=utf-8' }],
  ['CloudTrail', '{"Records":[{"a":1},{"a":2}]}', {}],
  ['lines as text', '{"a":1}\n{"a":2}', { 'content-type': 'text/plain' }],
  ['lines as JSON', '{"a":1}\n{"a":2}', { 'content-type': 'application/json' }],
  [
    'gzip as Content-Encoding',
    gzipSync('{"a":1}\n{"a":2}'),
    { 'content-type': 'application/x-ndjson', 'content-encoding': 'gzip' },
  ],
  ['gzip as Content-Type', gzipSync('[{"a":1},{"a":2}]'), { 'content-type': 'application/gzip' }],
])('accepts %s', async (_form, body, headers) => {
  const org = await newOrg();
  expect(await org.call('POST', '/api/logs/auth?timeField=a&history=true', body, headers)).toMatchObject({
    status: 200,
    body: { accepted: 2 },
  });
});

test('returns 400, 413 or 415 with the reason for invalid requests', async () => {
  const org = await newOrg();
  const post = (url: string, body?: string | Buffer, headers: Record<string, string> = {}) =>
    org.call('POST', `/api/logs/${url}`, body, headers);
  for (const [url, pointer] of [
    ['Auth', 'path/dataset'],
    ['auth_history', 'path/dataset'],
    ['auth?history=maybe', 'query/history'],
  ] as const)
    expect(await post(url, '{}')).toMatchObject({ status: 400, body: { errors: [{ pointer }] } });
  expect(await post('auth', '[{"a":1}')).toMatchObject({ status: 400, body: { code: 'malformed_json' } });
  expect(await post('auth', '{}', { 'content-type': 'image/png' })).toMatchObject({ status: 415 });
  expect(await post('auth', '{}', { 'content-encoding': 'br' })).toMatchObject({ status: 415 });
  expect(await post('auth')).toMatchObject({ status: 400 });
  const packed = gzipSync(Buffer.alloc(30 * 1024 * 1024, 32));
  for (const body of [Buffer.alloc(33 * 1024 * 1024, 32), Buffer.concat(Array<Buffer>(9).fill(packed))])
    expect(await post('auth', body)).toMatchObject({ status: 413, body: { code: 'payload_too_large' } });
  const unpacked = gzipSync(`[${'{"a":1},'.repeat(4_000)}{}]`.padEnd(33 * 1024 * 1024));
  expect((await post('auth', unpacked, { 'content-encoding': 'gzip' })).body).toMatchObject({
    accepted: 4_001,
  });
  expect((await post('auth', '{"a":1}\nx')).body).toMatchObject({
    accepted: 1,
    rejected: [{ line: 2, reason: 'not valid JSON' }],
  });
});

test('returns 403 without the scope and 401 without a key', async () => {
  const org = await newOrg();
  const reader = await newKey(org, ['detections:read']);
  const writer = await newKey(org, ['logs:write']);
  expect((await reader.call('POST', '/api/logs/auth', '{"a":1}')).status).toBe(403);
  expect((await writer.call('GET', '/api/logs')).status).toBe(403);
  expect((await writer.call('POST', '/api/logs/auth', '{"a":1}')).status).toBe(200);
  expect((await reader.call('GET', '/api/logs')).status).toBe(200);
  expect((await app.inject({ method: 'POST', url: '/api/logs/Bad', payload: 'x' })).statusCode).toBe(401);
});

test('replays the first response for a repeated Idempotency-Key', async () => {
  const org = await newOrg();
  const headers = { 'idempotency-key': 'once', 'content-type': 'application/x-ndjson' };
  const first = await org.call('POST', '/api/logs/auth', '{"a":1}', headers);
  const second = await org.call('POST', '/api/logs/auth', '{"a":1}', headers);
  expect(second.body).toEqual(first.body);
  expect((await org.call('POST', '/api/logs/auth', '{"a":2}', headers)).status).toBe(422);
});
