import { LRUCache } from 'lru-cache';
import { inOrg, type Db, type Tx } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import type { Secretbox } from '../../platform/lib/secretbox.ts';
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
import { openCredentials } from './connection-settings.ts';
import { inSpan } from '../../platform/lib/logging/spans.ts';

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
