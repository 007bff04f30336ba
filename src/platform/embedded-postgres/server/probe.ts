import { Socket } from 'node:net';
import { Client } from 'pg';

/** `refuses`: it lives and says why it does not let us in. `silent`: nothing of a PostgreSQL came within the bound. */
export type Problem = { kind: 'refuses' | 'silent'; reason: string };

const answerMaxMs = 5_000;

/** What keeps the server from answering a query, undefined where it answers. Being full of connections is no problem of it. */
export async function askServer(url: string): Promise<Problem | undefined> {
  const socket = new Socket();
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: answerMaxMs,
    query_timeout: answerMaxMs,
    stream: () => socket,
  });
  // A connection that breaks later also says so in an event, which would end the process.
  client.on('error', () => {});
  try {
    await client.connect();
    await client.query('SELECT 1');
    await client.end();
    return undefined;
  } catch (error) {
    const { code, message } = error as Error & { code?: string };
    if (code === '53300') return undefined;
    return { kind: /^[0-9][0-9A-Z]{4}$/.test(code ?? '') ? 'refuses' : 'silent', reason: message };
  } finally {
    socket.destroy();
  }
}
