import { Socket } from 'node:net';
import { Client } from 'pg';

/** `refused`: the server rejected the connection or query. `unresponsive`: no PostgreSQL response within the time limit. */
export type ProbeFailure = { kind: 'refused' | 'unresponsive'; reason: string };

const responseMaxMs = 5_000;

/** Runs a query and returns why it failed, or undefined. A server without free connections counts as healthy. */
export async function probeServer(url: string): Promise<ProbeFailure | undefined> {
  const socket = new Socket();
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: responseMaxMs,
    query_timeout: responseMaxMs,
    stream: () => socket,
  });
  // An unhandled error event of a connection that breaks later would end the process.
  client.on('error', () => {});
  try {
    await client.connect();
    await client.query('SELECT 1');
    await client.end();
    return undefined;
  } catch (error) {
    const { code, message } = error as Error & { code?: string };
    if (code === '53300') return undefined;
    return { kind: /^[0-9][0-9A-Z]{4}$/.test(code ?? '') ? 'refused' : 'unresponsive', reason: message };
  } finally {
    socket.destroy();
  }
}
