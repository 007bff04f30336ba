import { createServer } from 'node:net';

/** The address of a server in libpq's notation: `host` is an IP address, or the folder of a socket whose name contains the port. */
export type ServerAddress = { host: string; port: number };

export const loopback = '127.0.0.1';

/** Returns the socket in the database folder, which only the server's user may enter. */
export function socketAddress(databaseFolder: string): ServerAddress {
  return { host: databaseFolder, port: 5432 };
}

export function isSocket({ host }: ServerAddress): boolean {
  return host.startsWith('/');
}

export function findFreeLoopbackPort(): Promise<ServerAddress> {
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
