import { once } from 'node:events';
import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname } from 'node:path';
import type { Config } from '../../config.ts';

/** The keys in the examples of the documentation, which anyone can read. */
const sampleKeys = {
  TOCSIN_API_KEY: 'choose-a-long-random-key',
  TOCSIN_ADMIN_KEY: 'choose-another-long-random-key-here',
};

/** Throws if a sample key of the documentation would protect an address that other machines reach. */
export function checkSampleKeys({ apiKey, adminKey, host }: Pick<Config, 'apiKey' | 'adminKey' | 'host'>): void {
  if (isLoopback(host)) return;
  for (const [name, key] of Object.entries({ TOCSIN_API_KEY: apiKey, TOCSIN_ADMIN_KEY: adminKey }))
    if (key === sampleKeys[name as keyof typeof sampleKeys])
      throw new Error(
        `${name} is the sample key of the documentation, and HOST ${host} is open to other machines. Choose another key, for example with: openssl rand -base64 32`,
      );
}

/** Throws if the data directory, or the nearest of its parents that exists, cannot be written. */
export function checkDataDir({ dataDir }: Pick<Config, 'dataDir'>): void {
  const existing = findExisting(dataDir);
  if (!statSync(existing).isDirectory())
    throw new Error(`TOCSIN_DATA_DIR ${dataDir}: ${existing} is a file. Choose another folder.`);
  try {
    accessSync(existing, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new Error(
      `TOCSIN_DATA_DIR ${dataDir}: ${existing} cannot be written. Change its owner, or choose another folder.`,
      { cause: error },
    );
  }
}

/** Returns the path, or the nearest of its parents that exists. */
export const findExisting = (path: string): string => (existsSync(path) ? path : findExisting(dirname(path)));

const isLoopback = (host: string): boolean => host === 'localhost' || host === '::1' || host.startsWith('127.');

/** `name` is the setting of the port. */
type Address = Pick<Config, 'port' | 'host'> & { name?: string };

/** Throws if the port cannot be listened on. */
export async function checkPort(address: Address): Promise<void> {
  const { port, host } = address;
  const server = createServer().listen({ port, host });
  try {
    await once(server, 'listening');
  } catch (error) {
    throw explainListenFailure(address, error);
  }
  server.close();
  await once(server, 'close');
}

/** Returns an error that says what to do if an address cannot be listened on. Returns other errors unchanged. */
export function explainListenFailure({ port, host, name = 'PORT' }: Address, error: unknown): unknown {
  switch ((error as NodeJS.ErrnoException).code) {
    case 'EADDRINUSE':
      return new Error(`Port ${port} is in use. Set ${name} to another port.`, { cause: error });
    case 'EACCES':
      return new Error(`Port ${port} needs privileges. Set ${name} to 1024 or higher.`, { cause: error });
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new Error(`HOST ${host} is not an address of this machine. Use 127.0.0.1, or 0.0.0.0 for all.`, {
        cause: error,
      });
    default:
      return error;
  }
}
