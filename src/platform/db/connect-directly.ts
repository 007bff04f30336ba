import pg from 'pg';
import { readDatabaseUrl } from './server-address.ts';

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
