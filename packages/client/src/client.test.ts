import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { afterAll, expect, test } from 'vitest';
import { closeServer, listen } from '../../../test/support/listen.ts';
import { createClient, TocsinError } from './client.ts';

type Answer = (response: ServerResponse) => void;
const answers: Answer[] = [];
let seen: IncomingMessage[] = [];
const server = createServer((request, response) => {
  seen.push(request);
  request.resume().on('end', () => answers.shift()!(response));
});
const url = await listen(server);
afterAll(() => closeServer(server));

const client = createClient({ url, apiKey: 'key' });

const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): Answer =>
  (response) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
const success = json(200, { runId: 'r' });
const refused = (status: number, retryAfter = '0') =>
  json(status, { code: 'refused', detail: 'Refused.' }, { 'retry-after': retryAfter });
const reset: Answer = (response) => response.destroy();
const cutOff: Answer = (response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' }).write('{"run');
  setTimeout(() => response.destroy(), 20);
};
const silence: Answer = () => undefined;

/** Plans the next responses of the server. */
function plan(...next: Answer[]): void {
  answers.splice(0, Infinity, ...next);
  seen = [];
}
const get = () => client.get('/api/runs/{id}', { params: { path: { id: 'r' } } });
const post = () => client.post('/api/detections/{id}/run', { params: { path: { id: 'd' } }, body: {} });
const put = () => client.put('/api/entity-notes', { body: { notes: [] } });

test.each([
  ['429', refused(429)],
  ['503', refused(503)],
  ['504', refused(504)],
  ['a lost connection', reset],
  ['a cut-off body', cutOff],
])('repeats a GET after %s', async (_name, first) => {
  plan(first, success);
  expect(await get()).toEqual({ runId: 'r' });
  const requests = seen.map(({ method, url, headers }) => `${method} ${url} ${headers.authorization}`);
  expect(requests).toEqual(['GET /api/runs/r Bearer key', 'GET /api/runs/r Bearer key']);
});

test('repeats a POST with the same idempotency key', async () => {
  plan(reset, refused(409), success);
  await post();
  const keys = seen.map(({ headers }) => headers['idempotency-key']);
  expect(keys[0]).toMatch(/^[\da-f-]{36}$/);
  expect(new Set(keys).size).toBe(1);
  expect(seen).toHaveLength(3);
  plan(success);
  await client.post('/api/detections/{id}/run', {
    params: { path: { id: 'd' }, header: { 'Idempotency-Key': 'mine' } },
    body: {},
  });
  expect(seen[0]!.headers['idempotency-key']).toBe('mine');
});

test('repeats a PUT only after a refusal that changed nothing', async () => {
  plan(refused(429), success);
  await put();
  plan(refused(503));
  await expect(put()).rejects.toMatchObject({ status: 503 });
  plan(reset);
  await expect(put()).rejects.toMatchObject({ status: 0, code: 'unreachable' });
});

test.each([400, 404, 409, 500])('does not repeat a request that failed with %s', async (status) => {
  plan(json(status, { code: 'some_code', detail: 'Some detail.' }));
  await expect(post()).rejects.toMatchObject({ status, code: 'some_code' });
});

test('stops after the last retry, and does not wait longer than a minute', async () => {
  plan(...Array(4).fill(refused(503)));
  await expect(get()).rejects.toMatchObject({ status: 503, retryAfterMs: 0 });
  expect(seen).toHaveLength(4);
  plan(refused(429, '3600'));
  await expect(get()).rejects.toMatchObject({ status: 429, retryAfterMs: 3_600_000 });
});

test('throws the problem of the service', async () => {
  const errors = [{ pointer: '/name', code: 'too_long', detail: 'Too long.' }];
  plan(json(400, { code: 'validation_failed', detail: 'Not valid.', requestId: 'q', errors }));
  const error: unknown = await get().catch((one: unknown) => one);
  expect(error).toBeInstanceOf(TocsinError);
  expect(error).toMatchObject({
    message: 'Not valid. (validation_failed, request q)\n  /name: Too long.',
    pointer: '/name',
    requestId: 'q',
    errors,
  });
  plan(
    (response) => response.writeHead(502).end('<html>'),
    ...Array(3).fill((one: ServerResponse) => one.writeHead(404).end('<html>')),
  );
  await expect(get()).rejects.toMatchObject({ status: 404, code: 'unexpected_response' });
});

test('gives up on a silent service after the timeout, and stops when the caller aborts', async () => {
  plan(silence, silence);
  await expect(createClient({ url, timeoutMs: 50, retriesMax: 1 }).get('/healthz')).rejects.toMatchObject({
    code: 'timeout',
  });
  expect(seen).toHaveLength(2);
  plan(refused(503, '30'));
  const controller = new AbortController();
  const waiting = client.get('/healthz', { signal: controller.signal });
  await expect.poll(() => seen.length).toBe(1);
  controller.abort(new Error('enough'));
  await expect(waiting).rejects.toThrow('enough');
});

test('follows cursors, numbered pages of one snapshot, and links', async () => {
  const listOf = async <T>(entries: AsyncIterable<T>) => {
    const found: T[] = [];
    for await (const entry of entries) found.push(entry);
    return found;
  };
  plan(json(200, { hits: [{ id: 1 }], nextCursor: 'c/2' }), json(200, { hits: [{ id: 2 }], nextCursor: null }));
  expect(await listOf(client.list('/api/hits', { params: { query: { status: 'open' } } }))).toEqual([
    { id: 1 },
    { id: 2 },
  ]);
  expect(seen.map(({ url }) => url)).toEqual(['/api/hits?status=open', '/api/hits?status=open&cursor=c%2F2']);

  const page = (number: number, hasNext: boolean) =>
    json(200, { items: [number], page: number, hasNext, outputs: { asOf: 'now' } });
  plan(page(1, true), page(2, false));
  expect(await listOf(client.list('/api/feed/items'))).toEqual([1, 2]);
  expect(seen.map(({ url }) => url)).toEqual(['/api/feed/items', '/api/feed/items?page=2&asOf=now']);

  const link = { link: '</api/feed/export/csv?limit=1&after=a%2Bb>; rel="next"' };
  const text =
    (body: string, headers = {}): Answer =>
    (response) =>
      response.writeHead(200, { 'content-type': 'text/csv', ...headers }).end(body);
  plan(text('one', link), text('two'));
  expect(await listOf(client.pages('/api/feed/export/csv', { params: { query: { limit: 1 } } }))).toEqual([
    'one',
    'two',
  ]);
  expect(seen[1]!.url).toBe('/api/feed/export/csv?limit=1&after=a%2Bb');
});
