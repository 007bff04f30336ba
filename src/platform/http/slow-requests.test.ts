import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { fastify } from 'fastify';
import { afterAll, expect, test } from 'vitest';
import type { App } from './app-type.ts';
import { registerJsonBodies } from './body.ts';
import { handleClientError, handleConnectionErrors } from './responses/connection-errors.ts';
import { sendProblem } from './responses/problem.ts';

// The limits of the service are minutes.
const app = fastify({
  requestTimeout: 300,
  http: { connectionsCheckingInterval: 50, headersTimeout: 300, requireHostHeader: false },
  clientErrorHandler: handleClientError,
}) as unknown as App;
const failures: unknown[] = [];
app.setErrorHandler((error, request, reply) => {
  failures.push(error);
  return sendProblem(error as never, request as never, reply as never);
});
handleConnectionErrors(app);
registerJsonBodies(app);
app.post('/echo', (request) => Promise.resolve(request.body));
await app.listen({ port: 0, host: '127.0.0.1' });
const { port } = app.server.address() as { port: number };
afterAll(() => app.close());

async function open(firstBytes: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write(firstBytes);
  return socket;
}
const head = 'POST /echo HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n';

test.each([
  ['headers', head],
  ['a body', `${head}Content-Length: 20\r\n\r\n{"a":`],
  ['a chunked body', `${head}Transfer-Encoding: chunked\r\n\r\n5\r\n{"a":\r\n`],
])('%s that do not arrive in time get 408 as problem+json, and the connection is closed', async (_name, bytes) => {
  const [answerHead = '', body = ''] = (await text(await open(bytes))).split('\r\n\r\n');
  expect(answerHead).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/);
  expect(answerHead.toLowerCase()).toContain('content-type: application/problem+json');
  expect(answerHead.toLowerCase()).toContain('x-content-type-options: nosniff');
  expect(JSON.parse(body)).toMatchObject({ status: 408, code: 'request_timeout' });
  // The aborted body is no failure of the service.
  for (const error of failures.splice(0)) expect(error).toMatchObject({ code: 'ECONNRESET' });
});

test('a request that arrives in time is answered', async () => {
  const answer = await text(await open(`${head}Connection: close\r\nContent-Length: 7\r\n\r\n{"a":1}`));
  expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n.*\{"a":1\}$/s);
});
