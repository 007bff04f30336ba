import { expect, test } from 'vitest';
import { startApp } from '../support/harness.ts';

const { app, newOrg, newKey } = await startApp();

test('checks the key before it validates or reveals anything', async () => {
  for (const [method, url] of [
    ['GET', '/api/nothing'],
    ['PATCH', '/api/keys'],
    ['POST', '/api/keys'],
    ['GET', '/'],
    ['OPTIONS', '/api/keys'],
  ] as const) {
    const answer = await app.inject({
      method,
      url,
      payload: '{broken',
      headers: { 'content-type': 'application/json' },
    });
    expect(answer.statusCode, `${method} ${url}`).toBe(401);
    expect(answer.headers['www-authenticate']).toMatch(/^Bearer/);
    expect(answer.headers['content-type']).toBe('application/problem+json');
  }
});

test.each([
  'Basic abc',
  'Bearer',
  'Bearer  ',
  'Bearer tcs_x_y',
  'Bearer tcs_000000000000000000_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',
  'x'.repeat(5000),
])('a bad key %#', async (authorization) => {
  expect((await app.inject({ url: '/api/keys', headers: { authorization } })).statusCode).toBe(401);
});

test('accepts the authorization scheme in any case, with one or more spaces', async () => {
  const { key } = await newOrg();
  for (const authorization of [`bearer ${key}`, `BEARER   ${key}`]) {
    expect((await app.inject({ url: '/api/keys', headers: { authorization } })).statusCode).toBe(200);
  }
});

test('open routes respond without a key', async () => {
  for (const url of ['/healthz', '/readyz', '/metrics', '/openapi.json', '/docs', '/docs/reference.css']) {
    expect((await app.inject({ url })).statusCode, url).toBeLessThan(400);
  }
});

test('returns 404 for unknown routes and 405 with Allow for unknown methods', async () => {
  const org = await newOrg();
  expect((await org.call('GET', '/api/nothing')).status).toBe(404);
  const wrong = await org.call('PATCH', '/api/keys');
  expect(wrong.status).toBe(405);
  expect(wrong.headers['allow']).toBe('GET, HEAD, OPTIONS, POST');
  expect((await org.call('GET', `/items/${'a'.repeat(501)}`)).status).toBe(400);
  const preview = '/api/detections/preview';
  for (const method of ['GET', 'PUT', 'DELETE', 'PATCH'] as const) {
    const sibling = await org.call(method, preview);
    expect([method, sibling.status, sibling.headers['allow']]).toEqual([method, 405, 'OPTIONS, POST']);
  }
  expect((await org.call('OPTIONS', preview)).headers['allow']).toBe('OPTIONS, POST');
  expect((await org.call('GET', '/api/detections/another')).status).not.toBe(405);
  for (const path of ['/taxii2/', '/taxii2']) expect((await org.call('PATCH', path)).status).toBe(405);
  const options = await org.call('OPTIONS', '/api/keys');
  expect([options.status, options.headers['allow']]).toEqual([204, 'GET, HEAD, OPTIONS, POST']);
  expect((await org.call('GET', '/api/keys/')).status).toBe(200);
  expect((await org.call('HEAD', '/api/keys')).body).toBe('');
});

test.each([
  ['{"name":', 400, 'malformed_json', undefined],
  ['', 400, 'validation_failed', ''],
  [{ name: '' }, 400, 'validation_failed', '/name'],
  [{ name: 'a', scope: [] }, 400, 'validation_failed', '/scope'],
  [{ name: 'a', scopes: ['root'] }, 400, 'validation_failed', '/scopes/0'],
  [{ 'na\u0000me': 'a' }, 400, 'validation_failed', ''],
  ['{"na\\ud800":"a"}', 400, 'validation_failed', ''],
  [`{"name":${'['.repeat(100_000)}${']'.repeat(100_000)}}`, 400, undefined, undefined],
  [{ name: 'x'.repeat(1_100_000) }, 413, 'payload_too_large', undefined],
] as const)('a bad body %#', async (body, status, code, pointer) => {
  const org = await newOrg();
  const answer = await org.call('POST', '/api/keys', body, { 'content-type': 'application/json; charset=utf-8' });
  expect(answer.status).toBe(status);
  if (code) expect(answer.body.code).toBe(code);
  if (pointer !== undefined) expect(answer.body.errors[0].pointer).toBe(pointer);
  expect(answer.body.requestId).toMatch(/^[0-9a-f-]{36}$/);
});

test('returns 415 for another media type', async () => {
  const org = await newOrg();
  expect(
    (await org.call('POST', '/api/keys', 'name=a', { 'content-type': 'application/x-www-form-urlencoded' })).status,
  ).toBe(415);
});

test('returns 403 with the name of the missing scope', async () => {
  const org = await newOrg(['feed:read']);
  const answer = await org.call('GET', '/api/keys');
  expect(answer.status).toBe(403);
  expect(answer.body.detail).toContain('keys:admin');
});

test('a key can grant only its own scopes', async () => {
  const org = await newOrg();
  const limited = await newKey(org, ['keys:admin', 'feed:read']);
  expect((await limited.call('POST', '/api/keys', { name: 'more', scopes: ['logs:write'] })).status).toBe(403);
  expect((await limited.call('POST', '/api/keys', { name: 'same' })).body.scopes.toSorted()).toEqual([
    'feed:read',
    'keys:admin',
  ]);
});

test('shows a key once, rotates with overlap and revokes immediately', async () => {
  const org = await newOrg();
  const made = (await org.call('POST', '/api/keys', { name: 'robot' })).body;
  const works = async (key: string) =>
    (await app.inject({ url: '/api/keys', headers: { authorization: `Bearer ${key}` } })).statusCode === 200;
  expect(made.key).toMatch(/^tcs_[0-9a-f]+_.{32}$/);
  expect(JSON.stringify((await org.call('GET', '/api/keys')).body)).not.toContain(made.key);
  const next = (await org.call('POST', `/api/keys/${made.id}/rotate`, { overlapSeconds: 60 })).body;
  expect([await works(made.key), await works(next.key)]).toEqual([true, true]);
  const last = (await org.call('POST', `/api/keys/${made.id}/rotate`, {})).body;
  expect([await works(next.key), await works(last.key)]).toEqual([false, true]);
  expect((await org.call('DELETE', `/api/keys/${made.id}`)).body.revokedAt).not.toBeNull();
  expect(await works(last.key)).toBe(false);
  const other = await newOrg();
  expect((await other.call('DELETE', `/api/keys/${made.id}`)).status).toBe(404);
  const actions = (await org.call('GET', '/api/audit')).body.entries.map((entry: { action: string }) => entry.action);
  expect(actions.slice(0, 4)).toEqual(['key.revoked', 'key.rotated', 'key.rotated', 'key.created']);
});

test('Idempotency-Key repeats the response without the secret and rejects another body', async () => {
  const org = await newOrg();
  const send = (name: string) => org.call('POST', '/api/keys', { name }, { 'idempotency-key': 'k-1' });
  const [first, again, other] = [await send('a'), await send('a'), await send('b')];
  expect(again.body).toEqual({ ...first.body, key: null, code: 'secret_already_shown' });
  expect(other.status).toBe(422);
  const racing = await Promise.all(
    [1, 2, 3].map(() => org.call('POST', '/api/keys', { name: 'r' }, { 'idempotency-key': 'k-2' })),
  );
  expect(racing.filter((answer) => answer.status === 200 && answer.body.key !== null)).toHaveLength(1);
  expect(
    (await (await newOrg()).call('POST', '/api/keys', { name: 'a' }, { 'idempotency-key': 'k-1' })).body.key,
  ).not.toBeNull();
});

test('Idempotency-Key identifies a request by its meaning, not by the spelling of its address', async () => {
  const org = await newOrg();
  const key = (await org.call('POST', '/api/keys', { name: 'a' })).body;
  const send = (url: string, name: string) => org.call('POST', url, { name }, { 'idempotency-key': name });
  const replayed = async (first: string, second: string, name: string) => {
    expect((await send(first, name)).headers['idempotent-replayed'], first).toBeUndefined();
    return (await send(second, name)).headers['idempotent-replayed'];
  };
  expect(await replayed('/api/keys', '/api/keys/', 'b')).toBe('true');
  const detection = (
    await org.call('POST', '/api/detections', {
      name: 'd',
      detectionCategory: 'custom',
      detectionQuery: 'SELECT 1',
      systemPrompt: 'p',
    })
  ).body;
  const snooze = (id: string) =>
    org.call('POST', `/api/detections/${id}/snooze`, { until: '2099-01-01T00:00:00Z' }, { 'idempotency-key': 'c' });
  expect((await snooze(detection.id)).status).toBe(200);
  expect((await snooze(detection.id.toUpperCase())).headers['idempotent-replayed']).toBe('true');
  const events = (query: string) => org.call('POST', `/api/logs/auth?${query}`, { a: 1 }, { 'idempotency-key': 'd' });
  expect((await events('history=true&timeField=t')).headers['idempotent-replayed']).toBeUndefined();
  expect((await events('timeField=t&history=true')).headers['idempotent-replayed']).toBe('true');
  expect((await events('timeField=u&history=true')).status).toBe(422);
  // Another record is another request.
  expect((await send(`/api/keys/${key.id}/rotate`, 'b')).headers['idempotent-replayed']).toBeUndefined();
});

test('a repeated parameter is an error that says so, whatever its type', async () => {
  const org = await newOrg();
  for (const query of ['limit=1&limit=2', 'status=open&status=closed', 'detection=a&detection=b']) {
    const field = query.split('=')[0];
    const { body } = await org.call('GET', `/api/hits?${query}`);
    expect(body.errors).toEqual([{ pointer: `query/${field}`, code: 'repeated', detail: 'must not be repeated' }]);
  }
});

test('lists page by cursor without losing records', async () => {
  const org = await newOrg();
  for (let n = 0; n < 5; n += 1) await org.call('POST', '/api/keys', { name: `n${n}` });
  const names: string[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const { body } = await org.call('GET', `/api/keys?limit=2${cursor ? `&cursor=${cursor}` : ''}`);
    names.push(...body.keys.map((key: { name: string }) => key.name));
    cursor = body.nextCursor;
  }
  expect(names).toHaveLength(6);
  expect(new Set(names).size).toBe(6);
  for (const [query, pointer] of [
    ['limit=0', 'query/limit'],
    ['limit=201', 'query/limit'],
    ['limit=x', 'query/limit'],
    ['cursor=zz', 'query/cursor'],
    ['limit=1&limit=2', 'query/limit'],
  ] as const) {
    expect((await org.call('GET', `/api/keys?${query}`)).body.errors?.[0]?.pointer, query).toBe(pointer);
  }
});
