import { Socket } from 'node:net';
import pg from 'pg';
import { parseExactJson } from '../../../platform/lib/json/json-values.ts';
import {
  pinnedLookup,
  resolvePublicHost,
  tlsOptions,
  type ResolvedAddress,
} from '../../../platform/lib/outbound-http/send-request.ts';
import type { QueryRow } from '../connector.ts';
import { toPostgresError } from './postgres-errors.ts';
import { upstreamError } from '../siem-errors.ts';
import { ExternalError } from '../../../platform/lib/external-error.ts';

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

/** `query` runs one statement. `bytesRead` returns the bytes received so far. */
export type PostgresSession = {
  query: (statement: string) => Promise<{ rows: QueryRow[]; names: string[] }>;
  bytesRead: () => number;
};

const { builtins } = pg.types;
const connectMs = 10_000;
/** Added to the server's time limit, so that the server can still report the timeout. */
const graceMs = 5_000;

/** Runs `work` in a read-only transaction with a server-side time limit, on a new connection to a checked address. Throws a SiemError. */
export async function withPostgresSession<T>(
  target: PostgresTarget,
  { timeoutMs, signal }: { timeoutMs: number; signal: AbortSignal },
  work: (session: PostgresSession) => Promise<T>,
): Promise<T> {
  const addresses = await resolvePublicHost({ hostname: target.host }, target.allow, signal).catch((error: Error) => {
    signal.throwIfAborted();
    throw error instanceof ExternalError ? upstreamError('unreachable', error.message, true) : error;
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
  // A running statement rejects with the error. Between statements, nobody handles it.
  client.on('error', () => undefined);
  const { stream } = connectionOf(client);
  const stop = (): void => stream.destroy();
  signal.addEventListener('abort', stop, { once: true });
  try {
    await client.connect();
    await client.query(`begin read only; set local statement_timeout = ${Math.ceil(timeoutMs)}`);
    const bytesRead = (): number => connectionOf(client).stream.bytesRead;
    return await work({ query: (statement) => runStatement(client, statement), bytesRead });
  } catch (error) {
    signal.throwIfAborted();
    throw toPostgresError(error, host);
  } finally {
    signal.removeEventListener('abort', stop);
    await client.end().catch(() => undefined);
  }
}

/** Creates a socket that tries all addresses, because only one of an IPv4 and an IPv6 address may be reachable. */
export function createPinnedSocket(addresses: ResolvedAddress[]): Socket {
  const socket = new Socket();
  const connect = socket.connect.bind(socket) as (options: object) => Socket;
  const lookup = pinnedLookup(addresses);
  return Object.assign(socket, { connect: (port: number, host: string) => connect({ port, host, lookup }) });
}

type PgConnection = { stream: { bytesRead: number; destroy: () => void } };

/** Returns the internal connection of `pg`. TLS replaces its stream. */
const connectionOf = (client: pg.Client): PgConnection =>
  (client as unknown as { connection: PgConnection }).connection;

/** Runs one statement. The extended protocol rejects further statements that a query could inject. */
async function runStatement(client: pg.Client, text: string): Promise<{ rows: QueryRow[]; names: string[] }> {
  const result = await client.query({ text, queryMode: 'extended' } as pg.QueryConfig);
  return { rows: result.rows as QueryRow[], names: result.fields.map(({ name }) => name) };
}

const jsonTypes = new Set([16, 21, 23, 26, 700, 701, 1000, 1005, 1007, 1009, 1015, 1021, 1022, 2951]);

/** Parses values as JSON: integers beyond 2^53 as text, times as ISO text, other types as the server's text. */
function parserOf(oid: number): (text: string) => unknown {
  if (oid === builtins.INT8 || oid === builtins.NUMERIC) return numberOf;
  if (oid === builtins.JSON || oid === builtins.JSONB) return parseExactJson;
  if (oid === builtins.TIMESTAMPTZ) return timeOf;
  if (oid === builtins.TIMESTAMP) return (text) => timeOf(text, '+00');
  return jsonTypes.has(oid) ? (pg.types.getTypeParser(oid, 'text') as (text: string) => unknown) : String;
}

function numberOf(text: string): unknown {
  const number = Number(text);
  return Number.isFinite(number) && (Number.isSafeInteger(number) || text.includes('.')) ? number : text;
}

function timeOf(text: string, zone = ''): string {
  const at = new Date(`${text}${zone}`.replace(' ', 'T').replace(/([+-]\d\d)$/, '$1:00'));
  return Number.isNaN(at.getTime()) ? text : at.toISOString();
}
