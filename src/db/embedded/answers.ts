import { Socket } from 'node:net';
import { Client } from 'pg';

/** `refuses`: it lives and says why it does not let us in. `silent`: nothing of a PostgreSQL came within the bound. */
export type Answer = { kind: 'ok' } | { kind: 'refuses' | 'silent'; reason: string };

const answerMaxMs = 5_000;

/** Whether the server answers a query. Being full of connections is an answer too. */
export async function askServer(url: string): Promise<Answer> {
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
    return { kind: 'ok' };
  } catch (error) {
    const { code, message } = error as Error & { code?: string };
    if (code === '53300') return { kind: 'ok' };
    return { kind: /^[0-9][0-9A-Z]{4}$/.test(code ?? '') ? 'refuses' : 'silent', reason: message };
  } finally {
    socket.destroy();
  }
}
