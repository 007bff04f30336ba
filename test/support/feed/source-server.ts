import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeEach } from 'vitest';

export type Asked = { path: string; query: URLSearchParams; headers: IncomingMessage['headers'] };
export type Route = (response: ServerResponse, asked: Asked) => void;

type Server = {
  base: string;
  routes: Map<string, Route>;
  /** A document with its hash as ETag; asked with it, the answer is 304. */
  document: (path: string, body: string | Buffer, type?: string) => void;
  asked: Asked[];
  stop: () => void;
};

/** A server for all tests of a file, which begin without routes and with nothing asked. */
export async function serverOfTests(): Promise<Server> {
  const server = await startServer();
  afterAll(() => server.stop());
  beforeEach(() => {
    server.routes.clear();
    server.asked.length = 0;
  });
  return server;
}

/** An HTTP server of this machine whose routes a test may change at any time. */
export async function startServer(host = '127.0.0.1'): Promise<Server> {
  const routes = new Map<string, Route>();
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://x');
    const seen = { path: url.pathname, query: url.searchParams, headers: request.headers };
    asked.push(seen);
    const route = routes.get(url.pathname);
    if (route) route(response, seen);
    else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => void server.listen(0, host, resolve));
  return {
    base: `http://${host}:${(server.address() as AddressInfo).port}`,
    routes,
    asked,
    document: (path, body, type = 'application/json') => {
      const etag = `"${createHash('sha256').update(body).digest('hex')}"`;
      routes.set(path, (response, { headers }) => {
        if (headers['if-none-match'] === etag) response.writeHead(304).end();
        else response.writeHead(200, { etag, 'content-type': type }).end(body);
      });
    },
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
