import { Socket } from 'node:net';
import pg from 'pg';
import { parseExactJson } from '../../../platform/lib/json/json-values.ts';
import {
  pinnedLookup,
  resolvePublicHost,
  tlsOptions,
  type ResolvedAddress,
} from '../../../platform/lib/outbound-http/send-request.ts';
import { type QueryRow, SiemError } from '../connector.ts';
import {
  upstreamError,
  authorError,
  dataDependentError,
  dataError,
  matchName,
  UnknownColumnError,
} from '../siem-errors.ts';
import { ExternalError, isProgramFault } from '../../../platform/lib/external-error.ts';

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

/** Converts a PostgreSQL error by its SQLSTATE (appendix A of the manual). Returns a mistake of this program unchanged. */
function toPostgresError(error: unknown, host: string): Error {
  if (error instanceof SiemError || isProgramFault(error)) return error as Error;
  const { code = '', message } = error as Error & { code?: string };
  if (!/^[0-9A-Z]{5}$/.test(code)) return upstreamError('unreachable', `${host}: ${message}`, true);
  if (code === '42703') return toColumnError(message);
  if (code === '42501') return upstreamError('rights_missing', `${host}: ${message}`);
  if (code === '57014') return dataDependentError('query_timeout', 'The query exceeded its time limit.');
  // Data exceptions such as a text that is no number, and a subquery with several rows.
  if (/^(?:22|21)/.test(code)) return dataError(message);
  if (code.startsWith('25')) return authorError('query_not_allowed', `The query must only read: ${message}.`);
  if (code === '3D000') return upstreamError('not_found', `${host}: ${message}`);
  if (code.startsWith('28')) return upstreamError('credentials_refused', `${host}: ${message}`);
  if (code.startsWith('53')) return upstreamError('throttled', `${host}: ${message}`, true);
  // Syntax, grouping, windowing and recursion errors, and unsupported features.
  if (/^(?:42601|42803|42P19|42P20|0A)/.test(code)) return authorError('query_error', message);
  // Tables, columns, types and limits, which pipelines change.
  if (/^(?:42|54|3F|26|34|2F|P0)/.test(code)) return dataDependentError('query_error', message);
  return upstreamError('unavailable', `${host}: ${message}`, true);
}

function toColumnError(message: string): SiemError {
  const name = matchName(message, /column "?([^"\s]+)"? does not exist/);
  return name === undefined
    ? dataDependentError('unknown_column', message)
    : new UnknownColumnError(name.split('.').at(-1)!);
}
