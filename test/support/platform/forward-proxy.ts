import { createServer, request as send, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { atFileEnd } from '../at-file-end.ts';
import { closeServer, listen } from '../listen.ts';

/** `requests` lists what clients asked for: the target of each CONNECT, and the address of each other request. */
export type ForwardProxy = { url: string; host: string; requests: string[] };

/**
 * Starts an HTTP proxy, which tunnels CONNECT and forwards requests with whole addresses (RFC 9110, 9.3.6 and 7.1). It resolves every name to this
 * machine. With `credentials`, it answers 407 to requests without them.
 */
export async function startForwardProxy(credentials?: string): Promise<ForwardProxy> {
  const requests: string[] = [];
  const expected = credentials === undefined ? undefined : `Basic ${Buffer.from(credentials).toString('base64')}`;
  const isAllowed = ({ headers }: IncomingMessage): boolean =>
    expected === undefined || headers['proxy-authorization'] === expected;
  const server = createServer((request, response) => {
    requests.push(request.url!);
    if (isAllowed(request)) forward(request, response);
    else response.writeHead(407, { 'proxy-authenticate': 'Basic' }).end();
  });
  server.on('connect', (request: IncomingMessage, client: Duplex) => {
    requests.push(`CONNECT ${request.url}`);
    if (!isAllowed(request)) return client.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
    const target = connect(Number(request.url!.split(':').at(-1)), '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      client.pipe(target).pipe(client);
    });
    client.on('error', () => target.destroy());
    return target.on('error', () => client.destroy());
  });
  const { host } = new URL(await listen(server));
  atFileEnd(() => closeServer(server));
  return { url: `http://${credentials === undefined ? '' : `${credentials}@`}${host}`, host, requests };
}

function forward(request: IncomingMessage, response: ServerResponse): void {
  const { port, pathname, search } = new URL(request.url!);
  const { 'proxy-authorization': _, ...headers } = request.headers;
  const options = { host: '127.0.0.1', port, path: pathname + search, method: request.method, headers };
  request.pipe(
    send(options, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(response);
    }),
  );
}
