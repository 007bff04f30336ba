import { createServer, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { atFileEnd } from '../at-file-end.ts';

/** Starts a proxy, whose address is known before the service behind it listens. `target` is the service's origin. */
export async function startReverseProxy() {
  const proxy = { origin: '', target: '' };
  const server = createServer((request, response) => {
    const { method, url = '/', headers } = request;
    const forwarded = send(new URL(url, proxy.target), { method, headers }, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(response);
    });
    request.pipe(forwarded);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  atFileEnd(() => server.close().closeAllConnections());
  proxy.origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return proxy;
}
