import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Starts a server on a free loopback port. Returns its origin, such as `http://127.0.0.1:4000`. */
export async function listen(server: Server, host = '127.0.0.1'): Promise<string> {
  await new Promise<void>((done) => void server.listen(0, host, done));
  return `http://${host}:${(server.address() as AddressInfo).port}`;
}

/** Ends all connections and closes the server. */
export function closeServer(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((closed) => void server.close(() => closed()));
}

/** Serves one text over HTTP while `work` runs. */
export async function whileServing<T>(text: string, work: (url: string) => Promise<T>): Promise<T> {
  const server = createServer((_request, response) => response.setHeader('content-type', 'application/json').end(text));
  const origin = await listen(server);
  try {
    return await work(`${origin}/feed.json`);
  } finally {
    await closeServer(server);
  }
}
