import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { beforeEach } from 'vitest';
import { atFileEnd } from '../at-file-end.ts';
import { closeServer, listen } from '../listen.ts';

export type RecordedRequest = { path: string; query: URLSearchParams; headers: IncomingMessage['headers'] };
export type Route = (response: ServerResponse, asked: RecordedRequest) => void;

type Server = {
  base: string;
  routes: Map<string, Route>;
  /** Serves a document with its hash as ETag, and a 304 for a request with that ETag. */
  document: (path: string, body: string | Buffer, type?: string) => void;
  asked: RecordedRequest[];
  stop: () => Promise<void>;
};

/** Starts a server for all tests of a file. Each test begins without routes and recorded requests. */
export async function serverOfTests(): Promise<Server> {
  const server = await startServer();
  atFileEnd(() => server.stop());
  beforeEach(() => {
    server.routes.clear();
    server.asked.length = 0;
  });
  return server;
}

/** Starts a local HTTP server whose routes a test may change at any time. */
export async function startServer(host = '127.0.0.1'): Promise<Server> {
  const routes = new Map<string, Route>();
  const asked: RecordedRequest[] = [];
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://x');
    const seen = { path: url.pathname, query: url.searchParams, headers: request.headers };
    asked.push(seen);
    const route = routes.get(url.pathname);
    if (route) route(response, seen);
    else response.writeHead(404).end();
  });
  const base = await listen(server, host);
  return {
    base,
    routes,
    asked,
    document: (path, body, type = 'application/json') => {
      const etag = `"${createHash('sha256').update(body).digest('hex')}"`;
      routes.set(path, (response, { headers }) => {
        if (headers['if-none-match'] === etag) response.writeHead(304).end();
        else response.writeHead(200, { etag, 'content-type': type }).end(body);
      });
    },
    stop: () => closeServer(server),
  };
}
