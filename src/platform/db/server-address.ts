import { userInfo } from 'node:os';
import pg from 'pg';

/** The parts of a PostgreSQL URL. `host` is a name, an address, or the folder of a socket. `name` is how messages call the server. */
type DatabaseServer = { name: string; host: string; port: number; user: string; database: string };

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

/** Returns an error that says why the server at the URL of a setting cannot be used and what to do. Returns other errors unchanged. */
export function explainConnectionFailure(url: string, error: unknown, setting = 'DATABASE_URL'): unknown {
  const { code, syscall } = error as NodeJS.ErrnoException;
  const advice = code === undefined ? undefined : describe(code, syscall, readDatabaseUrl(url));
  return advice === undefined ? error : new Error(`${setting}: ${advice}`, { cause: error });
}

function describe(code: string, syscall: string | undefined, { name, host, port, user, database }: DatabaseServer) {
  switch (code) {
    case 'ECONNREFUSED':
      return `${name} refused the connection. Check that PostgreSQL runs there and accepts TCP connections (listen_addresses).`;
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `the host ${host} cannot be resolved. Check its name and the DNS of this machine.`;
    case 'ETIMEDOUT':
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return `${name} does not respond. Check the address, the network and the firewall.`;
    case 'ENOENT':
      return syscall === 'connect' ? 'the socket of the server does not exist. Check that PostgreSQL runs.' : undefined;
    case '28P01':
      return `${name} rejects the password of the user ${user}.`;
    case '28000':
      return `${name} does not let the user ${user} in. Check that the role exists and may log in, and pg_hba.conf.`;
    case '3D000':
      return `the database ${database} does not exist on ${name}. Create it with: createdb -h ${host} -p ${port} -U ${user} ${database}`;
    case '53300':
      return `${name} has no free connection. Raise max_connections or use a pooler.`;
    default:
      return undefined;
  }
}

/**
 * Connects to a PostgreSQL server for work that needs one session, such as a lock that outlasts a transaction. Throws if a pooler is in between:
 * poolers refuse or drop the settings of a session.
 */
export async function connectDirectly(url: string, name: string): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: url,
    application_name: name,
    options: '-c tocsin.session=own',
    connectionTimeoutMillis: 10_000,
  });
  // A lost connection emits it, which would end the process. The statement that runs, or the next one, fails and reports the error.
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ session: string | null }>(
      "select current_setting('tocsin.session', true) as session",
    );
    if (rows[0]!.session !== 'own') throw poolerError(url);
    return client;
  } catch (error) {
    await client.end().catch(() => undefined);
    const { code, message } = error as { code?: string; message: string };
    throw code === '08P01' && message.includes('startup parameter') ? poolerError(url) : error;
  }
}

function poolerError(url: string): Error {
  return new Error(
    `${readDatabaseUrl(url).name} is a connection pooler. Set DATABASE_DIRECT_URL to the PostgreSQL server behind it.`,
  );
}
