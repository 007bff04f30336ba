import type pg from 'pg';
import type { RemoteConnection } from '../../src/detection/siem/connector.ts';
import { clickhouse } from '../../src/detection/siem/connectors/clickhouse.ts';
import { elasticsearch } from '../../src/detection/siem/connectors/elasticsearch.ts';
import { opensearch } from '../../src/detection/siem/connectors/opensearch.ts';
import { postgres } from '../../src/detection/siem/connectors/postgres.ts';
import type { FixtureEvent } from '../../src/detection/log-query/search/fixture-store.ts';
import type { RemoteSiemType } from '../../src/detection/siem/connectors/registry.ts';
import type { StoredEvent } from '../../test/support/detection/shipped-cases.ts';

/** A real server with a connection to it. A table is an index there. */
export type PortableEngine = {
  name: string;
  kind: RemoteSiemType;
  connection: RemoteConnection;
  timeField: string;
  /** The field with the event as JSON. Without it, the row is the event. */
  eventField?: string;
  readVersion: () => Promise<string>;
  /** Returns the event as the engine returns it. */
  toDocument: (event: StoredEvent) => FixtureEvent;
  load: (table: string, events: readonly StoredEvent[]) => Promise<void>;
  drop: (table: string) => Promise<void>;
};

const timeField = 'at';
const eventField = 'event';

/** PostgreSQL. `role` reads the tables that `client` writes. */
export function openPostgres(
  client: pg.Client,
  address: URL,
  role: { user: string; password: string },
): PortableEngine {
  const settings = postgres.settings.parse({
    host: address.hostname,
    port: Number(address.port),
    database: address.pathname.slice(1),
    user: role.user,
    tls: 'off',
    timeColumn: timeField,
  });
  const credentials = { password: role.password };
  return {
    name: 'PostgreSQL',
    kind: 'postgres',
    connection: postgres.connect({ settings, credentials, allow: [address.hostname] }),
    timeField,
    eventField,
    readVersion: async () =>
      (await client.query<{ server_version: string }>('show server_version')).rows[0]!.server_version,
    toDocument: ({ event }) => event,
    load: async (table, events) => {
      await client.query(
        `create table ${table} (_id text, at timestamptz, event jsonb); grant select on ${table} to ${role.user}`,
      );
      const rows = JSON.stringify(events.map(({ id, ...rest }) => ({ _id: id, ...rest })));
      await client.query(`insert into ${table} select * from jsonb_populate_recordset(null::${table}, $1)`, [rows]);
    },
    drop: async (table) => void (await client.query(`drop table ${table}`)),
  };
}

/** ClickHouse by its HTTP interface. `type`: of the column with the event. */
export function openClickhouse(address: string, type: 'String' | 'JSON'): PortableEngine {
  const { url, user, password } = splitAddress(address, 'default');
  const post = (body: string): Promise<string> =>
    send(url, { method: 'POST', body, headers: { 'x-clickhouse-user': user, 'x-clickhouse-key': password } });
  const settings = clickhouse.settings.parse({ url, user, timeColumn: timeField });
  return {
    name: `ClickHouse, events of type ${type}`,
    kind: 'clickhouse',
    connection: clickhouse.connect({ settings, credentials: { password }, allow: [new URL(url).hostname] }),
    timeField,
    eventField,
    readVersion: async () => (await post('select version()')).trim().replaceAll('"', ''),
    toDocument: ({ event }) => event,
    load: async (table, events) => {
      const columns = `_id String, at DateTime64(3, 'UTC'), event ${type}`;
      await post(`create table ${table} (${columns}) engine = MergeTree order by at`);
      const rows = events.map(({ id, at, event }) => {
        const value = type === 'String' ? JSON.stringify(event) : event;
        return JSON.stringify({ _id: id, at: at.toISOString().slice(0, -1), event: value });
      });
      if (rows.length > 0) await post(`insert into ${table} format JSONEachRow\n${rows.join('\n')}\n`);
    },
    drop: async (table) => void (await post(`drop table ${table}`)),
  };
}

/** OpenSearch or Elasticsearch. Their dynamic mapping decides the types of the fields. */
export function openSearchEngine(address: string, connector: typeof opensearch | typeof elasticsearch): PortableEngine {
  const { url, user, password } = splitAddress(address, 'admin');
  const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
  const request = (path: string, method: string, body?: string): Promise<string> =>
    send(`${url}/${path}`, {
      method,
      headers: { authorization, 'content-type': 'application/x-ndjson' },
      ...(body ? { body } : {}),
    });
  const input = { credentials: { user, password }, allow: [new URL(url).hostname] };
  const connection =
    connector === opensearch
      ? opensearch.connect({ ...input, settings: opensearch.settings.parse({ url, rowsAtOnce: 10_000 }) })
      : elasticsearch.connect({ ...input, settings: elasticsearch.settings.parse({ url }) });
  const toDocument = ({ event, at }: StoredEvent): FixtureEvent => ({ ...event, '@timestamp': at.toISOString() });
  return {
    name: connector.label,
    kind: connector === opensearch ? 'opensearch' : 'elasticsearch',
    connection,
    timeField: '@timestamp',
    readVersion: async () => (JSON.parse(await request('', 'GET')) as { version: { number: string } }).version.number,
    toDocument,
    load: async (table, events) => {
      await request(table, 'PUT');
      const lines = events.flatMap((one) => [{ index: { _id: one.id } }, toDocument(one)]);
      const body = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
      const answer = body === '' ? '{}' : await request(`${table}/_bulk?refresh=true`, 'POST', body);
      const { errors = false } = JSON.parse(answer) as { errors?: boolean };
      if (errors) throw new Error(`${connector.label} rejects an event: ${answer.slice(0, 500)}`);
    },
    drop: async (table) => void (await request(table, 'DELETE')),
  };
}

/** Splits `http://user:password@host:port`. */
function splitAddress(address: string, defaultUser: string) {
  const { origin, username, password } = new URL(address);
  return { url: origin, user: decodeURIComponent(username) || defaultUser, password: decodeURIComponent(password) };
}

async function send(url: string, init: RequestInit): Promise<string> {
  const response = await fetch(url, init);
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.status}: ${text.slice(0, 500)}`);
  return text;
}
