import { LRUCache } from 'lru-cache';
import { inOrg, type Db, type Tx } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import {
  type Secretbox,
  openJson,
  sealJson,
  type SealedColumn,
  type SealedRecord,
} from '../../platform/lib/secretbox.ts';
import {
  selectsLogStore,
  type ConnectionSelector,
  SiemError,
  type SiemConnection,
  type QueryWindow,
  type SearchResult,
} from '../siem/connector.ts';
import { readTimeField, remoteConnectors, type RemoteSiemType } from '../siem/connectors/registry.ts';
import { listNamedSources } from '../siem/query-text.ts';
import { describeMissingConnection } from '../siem/siem-errors.ts';
import { resolveConnection, type ConnectionRow } from './connections.store.ts';
import { inSpan } from '../../platform/lib/logging/spans.ts';
import { parseFields } from '../../platform/lib/kind-fields.ts';
import { fieldError } from '../../platform/lib/errors.ts';
import { createAllowList } from '../../platform/lib/outbound-http/addresses.ts';

/** Opens the SIEM connection of a detection, reading it in `tx` if given. Throws a SiemError with blame `author` if it does not exist. */
export type ConnectionFor = (orgId: OrgId, selector: ConnectionSelector, tx?: Tx) => Promise<SiemConnection>;

type OpenConnectionDeps = {
  db: Db;
  secrets: Secretbox;
  /** Private hosts that connections may reach. */
  fetchAllow: readonly string[];
  local: (orgId: OrgId) => SiemConnection;
  /** Adds the portable queries of an organization to a connection of this kind with these settings. */
  withPortableQueries: (connection: SiemConnection, source: ConnectionSource) => SiemConnection;
};

type ConnectionSource = { organization: string; kind: RemoteSiemType; settings: unknown };

const connectionsMax = 1000;
const minuteMs = 60_000;

/** Creates a function that opens connections. It caches each connection until it changes, because some hold an access token. */
export function createConnectionFor(deps: OpenConnectionDeps): ConnectionFor {
  const { db, secrets, local } = deps;
  const connections = new LRUCache<string, SiemConnection>({ max: connectionsMax });
  const open = (row: ConnectionRow): SiemConnection => {
    const key = `${row.organization_id}/${row.id}/${row.updated_at.toISOString()}`;
    const connection =
      connections.get(key) ?? traceQueries(row.kind, connect(deps, row, openCredentials(secrets, row)));
    connections.set(key, connection);
    return connection;
  };
  return async (orgId, selector, tx) => {
    if (selectsLogStore(orgId, selector)) return traceQueries('local', local(orgId));
    const resolve = (on: Tx) => resolveConnection(on, orgId, selector);
    const row = await (tx ? resolve(tx) : inOrg(db, orgId, resolve));
    if (!row) throw noConnection(selector);
    return open(row);
  };
}

function connect(
  { fetchAllow, withPortableQueries }: OpenConnectionDeps,
  row: ConnectionRow,
  credentials: unknown,
): SiemConnection {
  const connector = remoteConnectors[row.kind];
  const { language, writing, dialect, source, eventField, returnsEvents, tableOf = same } = connector;
  const settings = connector.settings.parse(JSON.parse(row.settings));
  const connection: SiemConnection = {
    id: row.id,
    clock: row.clock,
    delayMs: row.delay_minutes * minuteMs,
    ...(row.clock === 'event' && row.recheck_minutes > 0 ? { recheckMs: row.recheck_minutes * minuteMs } : {}),
    guide: {
      language,
      writing,
      dialect,
      eventField,
      returnsEvents,
      tableOf,
      timeField: readTimeField(row.kind, settings),
    },
    // Columns have the names of the fields that they come from, unless the query renames them.
    sourcesOf: (query) => Promise.resolve({ datasets: listNamedSources(query, source.named), fields: new Map() }),
    ...connector.connect({ settings, credentials, allow: fetchAllow }),
  };
  return withPortableQueries(connection, { organization: row.organization_id, kind: row.kind, settings });
}

const same = (dataset: string): string => dataset;

function noConnection({ connectionId, siemType }: ConnectionSelector): SiemError {
  const message =
    connectionId === null ? describeMissingConnection(siemType) : `Connection ${connectionId} does not exist.`;
  return new SiemError({ kind: 'no_connection', blame: 'author', retryable: false, message });
}

/** Returns the same connection, whose queries are recorded in traces: without their text, which may contain names of people and hosts. */
function traceQueries(kind: string, connection: SiemConnection): SiemConnection {
  const describe = ({ from, to }: QueryWindow) => ({
    'tocsin.connection.kind': kind,
    'tocsin.window.from': from.toISOString(),
    'tocsin.window.to': to.toISOString(),
    ...(connection.id === undefined ? {} : { 'tocsin.connection.id': connection.id }),
  });
  const { searchTogether } = connection;
  return {
    ...connection,
    search: (query, window, limits, signal) =>
      inSpan('query', { attributes: describe(window) }, async (span): Promise<SearchResult> => {
        const result = await connection.search(query, window, limits, signal);
        span.setAttribute('tocsin.query.rows', result.total);
        return result;
      }),
    ...(searchTogether
      ? {
          searchTogether: (requests, limits, signal) =>
            inSpan('query batch', { attributes: { 'tocsin.query.count': requests.length } }, () =>
              searchTogether(requests, limits, signal),
            ),
        }
      : {}),
  };
}

/** Returns the settings parsed by the connector's schema, with defaults. Throws a 400 for invalid settings and for an address without TLS. */
export function validateSettings(
  kind: RemoteSiemType,
  input: unknown,
  allow: readonly string[],
): Record<string, unknown> {
  const connector = remoteConnectors[kind];
  const settings = parseFields(connector.settings, input, '/settings');
  const plain = connector.findUnencryptedHost(settings);
  if (plain && !createAllowList(allow)(plain.host, plain.host)) {
    const detail = `${plain.field}: ${plain.host} requires TLS, unless TOCSIN_FETCH_ALLOW lists it.`;
    throw fieldError(`/settings/${plain.field}`, 'tls_needed', detail);
  }
  return settings as Record<string, unknown>;
}

export const validateCredentials = (kind: RemoteSiemType, input: unknown): unknown =>
  parseFields(remoteConnectors[kind].credentials, input, '/credentials');

/** Returns the requested clock, or else `ingest` if the settings name a column for it. Throws a 400 for `ingest` without such a column. */
export function chooseClock(
  kind: RemoteSiemType,
  settings: unknown,
  requested: 'ingest' | 'event' | undefined,
): 'ingest' | 'event' {
  const canIngest = remoteConnectors[kind].supportsIngestClock(settings);
  if (requested === 'ingest' && !canIngest)
    throw fieldError(
      '/clock',
      'no_ingest_column',
      'The clock ingest requires a column for the ingest time in the settings.',
    );
  return requested ?? (canIngest ? 'ingest' : 'event');
}

const kind = 'connection';
export const credentialsColumn: SealedColumn = { table: 'connections', column: 'sealed', kind };

export const sealCredentials = (secrets: Secretbox, connection: SealedRecord, credentials: unknown): Buffer =>
  sealJson(secrets, kind, connection, credentials);

const openCredentials = (secrets: Secretbox, connection: SealedRecord & { sealed: Buffer }): unknown =>
  openJson(secrets, kind, connection, connection.sealed);
