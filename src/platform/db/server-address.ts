import { userInfo } from 'node:os';
import pg from 'pg';

/** The parts of a PostgreSQL URL. `host` is a name, an address, or the folder of a socket. `name` is how messages call the server. */
export type DatabaseServer = { name: string; host: string; port: number; user: string; database: string };

/**
 * Reads a PostgreSQL URL as the driver does: `postgresql:///tocsin?host=/var/run/postgresql` is a socket, and what is missing comes from the
 * environment variables of libpq (PostgreSQL manual, 34.1.1.2 and 34.15). Throws if it is not a valid URL.
 */
export function readDatabaseUrl(url: string): DatabaseServer {
  const { host, port, user = '', database = user } = new pg.Client({ connectionString: url });
  return { name: host.startsWith('/') ? `${host}/.s.PGSQL.${port}` : `${host}:${port}`, host, port, user, database };
}

/** Adds the user that runs this process to a URL without a user, as libpq does. Throws if it is not a valid URL. */
export function withDefaultUser(url: string): string {
  if (readDatabaseUrl(url).user !== '') return url;
  return `${url}${url.includes('?') ? '&' : '?'}user=${encodeURIComponent(userInfo().username)}`;
}
