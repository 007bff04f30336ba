import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { startApp } from '../../support/harness.ts';
import { createErrorRecorder } from '../../support/error-recorder.ts';

const recorder = createErrorRecorder();
const { app, newOrg, deps } = await startApp({ deps: { log: recorder.log } });
const org = await newOrg();
await app.listen({ port: 0, host: '127.0.0.1' });
const { port } = app.server.address() as { port: number };

/** Sends bytes on a connection of their own and returns the response. */
function send(text: string): Promise<{ status: number; headers: Record<string, string>; body: string }> {
  return new Promise((done, fail) => {
    const chunks: Buffer[] = [];
    const socket = connect(port, '127.0.0.1', () => socket.write(text));
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('error', fail);
    socket.on('end', () => {
      const [head = '', ...rest] = Buffer.concat(chunks).toString('latin1').split('\r\n\r\n');
      const [line = '', ...lines] = head.split('\r\n');
      const headers = Object.fromEntries(lines.map((one) => one.toLowerCase().split(/: (.*)/s, 2) as [string, string]));
      done({ status: Number(line.split(' ')[1]), headers, body: rest.join('\r\n\r\n') });
      socket.end();
    });
  });
}

const anonymous = 'Host: x\r\nConnection: close\r\n';
const known = `${anonymous}Authorization: Bearer ${org.key}\r\n`;
const json = 'Content-Type: application/json\r\n';
const post = (headers: string, body = '{}') => `POST /api/keys HTTP/1.1\r\n${known}${headers}\r\n${body}`;
const withLength = (headers: string, body = '{}') => post(`${headers}Content-Length: ${body.length}\r\n`, body);

const requests: [name: string, request: string, status: number, code: string][] = [
  ['a path outside the folder of the reference', `GET /docs/../../package.json HTTP/1.1\r\n${anonymous}\r\n`, 404, 'not_found'],
  ['the same path in percent escapes', `GET /docs/%2e%2e/%2e%2e/package.json HTTP/1.1\r\n${anonymous}\r\n`, 404, 'not_found'],
  ['a file that does not exist', `GET /docs/nothing.css HTTP/1.1\r\n${anonymous}\r\n`, 404, 'not_found'],
  ['a byte 0 in a path', `GET /docs/%00 HTTP/1.1\r\n${anonymous}\r\n`, 400, 'validation_failed'],
  ['a range outside a file', `GET /docs/reference.css HTTP/1.1\r\n${anonymous}Range: bytes=99999999-\r\n\r\n`, 416, 'range_not_satisfiable'],
  ['a condition that a file does not meet', `GET /docs/reference.css HTTP/1.1\r\n${anonymous}If-Match: "x"\r\n\r\n`, 412, 'precondition_failed'],
  ['an unknown Content-Encoding', withLength(`${json}Content-Encoding: x\r\n`), 415, 'unsupported_media_type'],
  ['an unknown Content-Encoding without a body', `GET /api/keys HTTP/1.1\r\n${known}Content-Encoding: x\r\n\r\n`, 415, 'unsupported_media_type'],
  ['broken gzip', withLength(`${json}Content-Encoding: gzip\r\n`), 400, 'malformed_json'],
  ['broken brotli', withLength(`${json}Content-Encoding: br\r\n`), 400, 'malformed_json'],
  ['another media type', withLength('Content-Type: text/html\r\n'), 415, 'unsupported_media_type'],
  ['a media type that is none', withLength('Content-Type: ;;;\r\n'), 415, 'unsupported_media_type'],
  ['events of another media type', `POST /api/logs/auth HTTP/1.1\r\n${known}Content-Type: text/html\r\nContent-Length: 2\r\n\r\n{}`, 415, 'unsupported_media_type'],
  ['events with an unknown Content-Encoding', `POST /api/logs/auth HTTP/1.1\r\n${known}${json}Content-Encoding: x\r\nContent-Length: 2\r\n\r\n{}`, 415, 'unsupported_media_type'],
  ['a broken percent escape', `GET /items/%zz HTTP/1.1\r\n${known}\r\n`, 400, 'malformed_request'],
  ['a percent escape that is not UTF-8', `GET /items/%ff HTTP/1.1\r\n${known}\r\n`, 400, 'malformed_request'],
  ['a parameter that is too long', `GET /items/${'a'.repeat(600)} HTTP/1.1\r\n${known}\r\n`, 400, 'malformed_request'],
  ['a long path', `GET /${'a'.repeat(9000)} HTTP/1.1\r\n${known}\r\n`, 404, 'not_found'],
  ['a path longer than all headers may be', `GET /${'a'.repeat(20_000)} HTTP/1.1\r\n${known}\r\n`, 414, 'uri_too_long'],
  ['a header that is too long', `GET /healthz HTTP/1.1\r\n${anonymous}x: ${'a'.repeat(20_000)}\r\n\r\n`, 431, 'headers_too_large'],
  ['bytes that are no request', 'garbage\r\n\r\n', 400, 'malformed_request'],
  ['an unknown method', `FOO / HTTP/1.1\r\n${anonymous}\r\n`, 400, 'malformed_request'],
  ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400, 'malformed_request'],
  ['no Host header', 'GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n', 400, 'malformed_request'],
  ['CONNECT', `CONNECT a:1 HTTP/1.1\r\n${anonymous}\r\n`, 405, 'method_not_allowed'],
  ['an unknown expectation', withLength(`${json}Expect: foo\r\n`), 417, 'expectation_failed'],
  ['two lengths', post(`${json}Content-Length: 2\r\nContent-Length: 3\r\n`), 400, 'malformed_request'],
  ['a length and chunks', post(`${json}Transfer-Encoding: chunked\r\nContent-Length: 3\r\n`, '0\r\n\r\n'), 400, 'malformed_request'],
  ['a broken chunk', post(`${json}Transfer-Encoding: chunked\r\n`, 'zz\r\n{}\r\n'), 400, 'malformed_request'],
  ['a chunk with a long extension', post(`${json}Transfer-Encoding: chunked\r\n`, `2;${'a'.repeat(20_000)}\r\n{}\r\n`), 413, 'payload_too_large'],
  ['another transfer encoding', post(`${json}Transfer-Encoding: gzip\r\n`), 400, 'malformed_request'],
  ['a body that is too large', post(`${json}Content-Length: 99999999\r\n`), 413, 'payload_too_large'],
  ['a length that is no number', post(`${json}Content-Length: 99999999999999999999999\r\n`), 400, 'malformed_request'],
]; // prettier-ignore

test.each(requests)('returns a problem document for %s', async (_name, request, status, code) => {
  recorder.clear();
  const response = await send(request);
  expect([response.status, response.headers['content-type']]).toEqual([status, 'application/problem+json']);
  const body =
    response.headers['transfer-encoding'] === 'chunked'
      ? response.body.replace(/^[\da-f]+\r\n|\r\n0\r\n\r\n$/g, '')
      : response.body;
  expect(JSON.parse(body)).toMatchObject({ status, code, requestId: expect.stringMatching(/^[0-9a-f-]{36}$/) });
  expect(response.headers['x-content-type-options']).toBe('nosniff');
  expect(response.headers['content-security-policy']).toContain("frame-ancestors 'none'");
  expect(recorder.errors()).toEqual([]);
});

test('uses the media type of the standard for errors of TAXII', async () => {
  const response = await send(`GET /taxii2/root/collections/none/ HTTP/1.1\r\n${known}\r\n`);
  expect([response.status, response.headers['content-type']]).toEqual([404, 'application/taxii+json;version=2.1']);
});

test('every response has the security headers, and the reference page allows its own scripts only', async () => {
  for (const url of [
    '/healthz',
    '/readyz',
    '/metrics',
    '/openapi.json',
    '/docs',
    '/docs/index.html',
    '/docs/reference.css',
    '/items',
    '/x',
  ]) {
    const { headers } = await app.inject({ url });
    expect(headers, url).toMatchObject({
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
    });
    const policy = String(headers['content-security-policy']);
    expect(policy, url).toContain("frame-ancestors 'none'");
    expect(policy, url).not.toMatch(/script-src[^;]*unsafe/);
    expect(policy, url).toMatch(/^default-src 'none'/);
  }
});

test('a client that leaves is neither an error in the log nor a 5xx in the metrics', async () => {
  recorder.clear();
  const leave = (text: string, afterMs: number): Promise<void> =>
    new Promise((done) => {
      const socket = connect(port, '127.0.0.1', () => socket.write(text));
      socket.on('error', () => undefined);
      socket.on('close', () => done());
      setTimeout(() => socket.resetAndDestroy(), afterMs);
    });
  await leave(post(`${json}Content-Length: 500\r\n`, '{"name":'), 50);
  await leave(post(`${json}Transfer-Encoding: chunked\r\n`, '5\r\n{"nam'), 50);
  await leave(`POST /api/logs/auth HTTP/1.1\r\n${known}${json}Content-Length: 5000\r\n\r\n{"a":`, 50);
  for (let n = 0; n < 5; n += 1)
    await leave(`GET /openapi.json HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\n\r\n`, n);
  await leave(`GET /api/keys HTTP/1.1\r\n${known}\r\n`, 0);
  await expect
    .poll(
      () =>
        app.server.listening &&
        new Promise<number>((done) => app.server.getConnections((_error, count) => done(count))),
    )
    .toBe(0);
  expect(recorder.errors()).toEqual([]);
  expect(await deps.metrics.registry.metrics()).not.toMatch(/tocsin_http_request_seconds_count\{[^}]*status="5/);
});

const level = (depth: number): string => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;

test.each([
  ['/api/detections', '{"name":"n","detectionTests":[{"name":"t","expect":[],"events":[DEEP]}]}'],
  ['/api/detections/preview', '{"name":"n","tests":[{"name":"t","expect":[],"events":[DEEP]}]}'],
  ['/api/feed/items', '{"text":DEEP}'],
  ['/api/feed/items', '["]]]]}}}}", DEEP, "[[[[{{{{"]'],
  ['/api/keys', '{"name":"\\\\\\"]]]]", "more": DEEP}'],
])('POST %s rejects a body that is nested 10,000 deep and names the place', async (url, body) => {
  const { status, body: problem } = await org.call('POST', url, body.replace('DEEP', level(10_000)));
  expect([status, problem.errors?.[0]?.code]).toEqual([400, 'too_deep']);
  expect(problem.errors[0].pointer).toMatch(/\/a\/a$/);
  expect((await org.call('POST', url, body.replace('DEEP', level(80)))).body.errors?.[0]?.code).not.toBe('too_deep');
});

test('tests of a detection that are nested 10,000 deep are a 400', async () => {
  const created = await org.call('POST', '/api/detections', {
    name: 'd',
    detectionCategory: 'custom',
    detectionQuery: 'SELECT _id FROM auth',
    systemPrompt: 'p',
  });
  expect(created.status, JSON.stringify(created.body)).toBe(200);
  const body = `{"tests":[{"name":"t","expect":[],"events":[${level(10_000)}]}]}`;
  const { status, body: problem } = await org.call('PUT', `/api/detections/${created.body.id}/tests`, body);
  expect([status, problem.errors?.[0]?.code]).toEqual([400, 'too_deep']);
});

test('serves a request that arrives while the server closes', async () => {
  const other = await startApp();
  await other.app.listen({ port: 0, host: '127.0.0.1' });
  const socket = connect((other.app.server.address() as { port: number }).port, '127.0.0.1');
  const received = new Promise<string>((done) => {
    let text = '';
    socket.on('data', (chunk) => (text += chunk.toString()));
    socket.on('close', () => done(text));
  });
  const connected = once(other.app.server, 'connection');
  socket.write('GET /api/detections HTTP/1.1\r\nHost: x\r\n');
  await connected;
  const closing = other.app.close();
  socket.write('\r\n');
  const text = await received;
  expect(text).toMatch(/^HTTP\/1\.1 401 /);
  expect(text.toLowerCase()).toContain('connection: close');
  await closing;
});
