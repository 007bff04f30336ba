import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { text } from 'node:stream/consumers';
import { fastify } from 'fastify';
import { expect, test } from 'vitest';
import type { App } from './app-type.ts';
import { closeConnectionsOnStop } from './connections.ts';

const request = 'GET /slow HTTP/1.1\r\nHost: x\r\n\r\n';

async function open(app: App): Promise<Socket> {
  const { port } = app.server.address() as { port: number };
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  const [accepted] = await Promise.all([once(app.server, 'connection'), once(socket, 'connect')]);
  expect(accepted).toHaveLength(1);
  return socket;
}

test('a connection without a request and a request in progress do not delay the stop longer than necessary', async () => {
  const app = fastify({ forceCloseConnections: 'idle', return503OnClosing: false }) as unknown as App;
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>();
  closeConnectionsOnStop(app);
  app.get('/slow', async () => {
    arrive();
    await released;
    return 'done';
  });
  await app.listen({ port: 0, host: '127.0.0.1' });
  const [unused, busy] = [await open(app), await open(app)];
  const answer = text(busy);
  busy.write(request);
  await arrived;
  const closing = app.close();
  await once(unused, 'close');
  await sleep(20);
  release();
  expect(await answer).toMatch(/^HTTP\/1\.1 200 OK\r\n.*done$/s);
  await closing;
}, 20_000);
