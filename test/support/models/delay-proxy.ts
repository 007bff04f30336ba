import { once } from 'node:events';
import { type AddressInfo, type Socket, connect, createServer } from 'node:net';

/** Starts a loopback proxy for a database server that delays all data by `delayMs` in each direction. The process may end before it. */
export async function startDelayProxy(url: string, delayMs = 0): Promise<URL> {
  const { hostname, port } = new URL(url);
  const open = (): Socket =>
    /^%2f/i.test(hostname)
      ? connect(`${decodeURIComponent(hostname)}/.s.PGSQL.${port}`)
      : connect(Number(port || 5432), hostname);
  const pass = (from: Socket, to: Socket): void => {
    from.on('data', (chunk) => void setTimeout(() => to.write(chunk), delayMs));
    from.on('close', () => void setTimeout(() => to.destroy(), delayMs));
    from.on('error', () => undefined);
  };
  const server = createServer((near) => {
    const far = open();
    pass(near, far);
    pass(far, near);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  server.unref();
  const bridged = new URL(url);
  bridged.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return bridged;
}
