import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyReply } from 'fastify';
import type { App } from './app-type.ts';

const graceMs = 200;

/**
 * Lets the server stop as soon as the last response is sent. Node closes only the connections that are idle at the beginning of the stop. Two
 * kinds would delay it by more than a minute: those that have carried no request, which browsers and HTTP clients open in advance, and those
 * that become idle during the stop.
 */
export function closeConnectionsOnStop(app: App): void {
  const server = app.server as Server;
  const sockets = new Set<Socket>();
  let isStopping = false;
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  app.addHook('onResponse', (_request, _reply, done) => {
    if (isStopping) setImmediate(() => server.closeIdleConnections());
    done();
  });
  app.addHook('preClose', (done) => {
    isStopping = true;
    // A request may be on its way.
    setTimeout(() => {
      for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
    }, graceMs);
    done();
  });
}

/** Returns a signal that aborts when the client closes the connection before the response is complete. */
export function disconnectSignal({ raw }: FastifyReply): AbortSignal {
  const controller = new AbortController();
  raw.once('close', () => {
    if (!raw.writableFinished) controller.abort();
  });
  return controller.signal;
}
