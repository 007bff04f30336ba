import { createServer } from 'node:net';
import type { Cluster } from './cluster.ts';

/** Where a server listens, as libpq writes it: a socket in the folder `host`, in whose name the port stands, or an address. */
export type Address = { host: string; port: number };

export const loopback = '127.0.0.1';

/** The socket in the folder of the database, which only the server's user may enter: no other door is needed. */
export function socketOf(cluster: Cluster): Address {
  return { host: cluster.location, port: 5432 };
}

export function isSocket({ host }: Address): boolean {
  return host.startsWith('/');
}

export function findLoopback(): Promise<Address> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, loopback, () => {
      const address = server.address();
      const port = typeof address === 'object' && address ? address.port : 0;
      server.close(() => resolve({ host: loopback, port }));
    });
  });
}
