import { Socket } from 'node:net';
import pg from 'pg';
import { parseExactJson } from '../../../platform/lib/json/exact-json.ts';
import {
  pinnedLookup,
  resolvePublicHost,
  tlsOptions,
  type ResolvedAddress,
} from '../../../platform/lib/outbound-http/send-request.ts';
import type { QueryRow } from '../connector.ts';
import { toPostgresError } from './postgres-errors.ts';
import { upstreamError } from '../siem-errors.ts';

export type PostgresTarget = {
  host: string;
  port: number;
  database: string;
  user: string;
  password: string;
  tls: 'verify' | 'off';
  caCertificate?: string | undefined;
  allow: readonly string[];
};

/** `ask` runs one statement. `bytesRead`: what has come over the wire so far. */
export type PostgresSession = {
  query: (statement: string) => Promise<{ rows: QueryRow[]; names: string[] }>;
  bytesRead: () => number;
};

const { builtins } = pg.types;
const connectMs = 10_000;
/** Beyond the server's own limit, in which it can still say that it gave up. */
const graceMs = 5_000;

/** Runs `work` in one read-only transaction with the server's own time limit, on a connection of its own to one of the addresses that were checked. Throws a SiemError. */
export async function withPostgresSession<T>(
  target: PostgresTarget,
  { timeoutMs, signal }: { timeoutMs: number; signal: AbortSignal },
  work: (session: PostgresSession) => Promise<T>,
): Promise<T> {
  const addresses = await resolvePublicHost({ hostname: target.host }, target.allow, signal).catch((error: Error) => {
    signal.throwIfAborted();
    throw upstreamError('unreachable', error.message, true);
  });
  const { host, tls, caCertificate: ca, allow: _allow, ...login } = target;
  const client = new pg.Client({
    ...login,
    host,
    stream: () => createPinnedSocket(addresses),
    ssl: tls === 'off' ? false : tlsOptions(ca),
    connectionTimeoutMillis: connectMs,
    query_timeout: timeoutMs + graceMs,
    application_name: 'tocsin',
    options: '-c timezone=UTC -c datestyle=ISO -c default_transaction_read_only=on',
    types: { getTypeParser: parserOf } as pg.CustomTypesConfig,
  });
  // The statement under way fails and says so; between two there is nobody to tell.
  client.on('error', () => undefined);
  const { stream } = (client as unknown as { connection: { stream: { bytesRead: number; destroy: () => void } } })
    .connection;
  const stop = (): void => stream.destroy();
  signal.addEventListener('abort', stop, { once: true });
  try {
    await client.connect();
    await client.query(`begin read only; set local statement_timeout = ${Math.ceil(timeoutMs)}`);
    const bytesRead = (): number => socketOf(client).bytesRead;
    return await work({ query: (statement) => askOne(client, statement), bytesRead });
  } catch (error) {
    signal.throwIfAborted();
    throw toPostgresError(error, host);
  } finally {
    signal.removeEventListener('abort', stop);
    await client.end().catch(() => undefined);
  }
}

/** Goes to whichever of the addresses answers: of a name with both kinds only one may be reachable. */
export function createPinnedSocket(addresses: ResolvedAddress[]): Socket {
  const socket = new Socket();
  const connect = socket.connect.bind(socket) as (options: object) => Socket;
  const lookup = pinnedLookup(addresses);
  return Object.assign(socket, { connect: (port: number, host: string) => connect({ port, host, lookup }) });
}

// TLS puts another stream in place of the first.
const socketOf = (client: pg.Client): { bytesRead: number } =>
  (client as unknown as { connection: { stream: { bytesRead: number } } }).connection.stream;

/** The extended protocol takes one statement: what an author closes a bracket to add is refused. */
async function askOne(client: pg.Client, text: string): Promise<{ rows: QueryRow[]; names: string[] }> {
  const result = await client.query({ text, queryMode: 'extended' } as pg.QueryConfig);
  return { rows: result.rows as QueryRow[], names: result.fields.map(({ name }) => name) };
}

const plain = new Set([16, 21, 23, 26, 700, 701, 1000, 1005, 1007, 1009, 1015, 1021, 1022, 2951]);

/** Values as JSON: whole numbers beyond 2^53 as text, times as ISO text, what has no like in JSON in the server's own text. */
function parserOf(oid: number): (text: string) => unknown {
  if (oid === builtins.INT8 || oid === builtins.NUMERIC) return numberOf;
  if (oid === builtins.JSON || oid === builtins.JSONB) return parseExactJson;
  if (oid === builtins.TIMESTAMPTZ) return timeOf;
  if (oid === builtins.TIMESTAMP) return (text) => timeOf(text, '+00');
  return plain.has(oid) ? (pg.types.getTypeParser(oid, 'text') as (text: string) => unknown) : String;
}

function numberOf(text: string): unknown {
  const number = Number(text);
  return Number.isFinite(number) && (Number.isSafeInteger(number) || text.includes('.')) ? number : text;
}

function timeOf(text: string, zone = ''): string {
  const at = new Date(`${text}${zone}`.replace(' ', 'T').replace(/([+-]\d\d)$/, '$1:00'));
  return Number.isNaN(at.getTime()) ? text : at.toISOString();
}
