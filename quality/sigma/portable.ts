import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createEngine } from '../../src/detection/log-engine/process/engine.ts';
import type { FixtureDeps } from '../../src/detection/log-query/search/fixture-store.ts';
import { createFileStore } from '../../src/detection/log-store/files/file-store.ts';
import { withPortableQueries } from '../../src/detection/portable-queries/portable-connection.ts';
import type { QueryRow, SiemConnection } from '../../src/detection/siem/connector.ts';
import { elasticsearch } from '../../src/detection/siem/connectors/elasticsearch.ts';
import { opensearch } from '../../src/detection/siem/connectors/opensearch.ts';
import { toPortableQuery } from '../../src/detection/siem/query-text.ts';
import {
  listShippedCases,
  searchEmbedded,
  shippedWindow,
  toComparableRows,
  type ShippedCase,
} from '../../test/support/detection/shipped-cases.ts';
import { startDelayProxy } from '../../test/support/models/delay-proxy.ts';
import { withClient, withInProcessProgram } from '../../test/support/program-environment.ts';
import type { QualityFigure } from '../figures.ts';
import { openClickhouse, openPostgres, openSearchEngine, type PortableEngine } from './portable-engines.ts';

export type EngineAddresses = {
  clickhouse?: string | undefined;
  opensearch?: string | undefined;
  elasticsearch?: string | undefined;
};

const limits = { rowsMax: 10_000, groupsMax: 10_000, timeoutMs: 60_000 };

/**
 * Runs every shipped detection as a portable query on real engines with the events of its tests, and compares the rows with those of the embedded
 * engine: on PostgreSQL, and on the servers at the addresses, in which it creates tables or indexes that begin with `tocsin_`.
 */
export async function measurePortable(addresses: EngineAddresses): Promise<QualityFigure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'tocsin-portable-'));
  const segmentStore = createFileStore(folder);
  const engine = createEngine({ directoryOf: segmentStore.folderOf });
  const deps = { engine, segmentStore, organization: '00000000-0000-7000-8000-000000000001' };
  const { clickhouse } = addresses;
  const servers = [
    ...(clickhouse ? [openClickhouse(clickhouse, 'String'), openClickhouse(clickhouse, 'JSON')] : []),
    ...(addresses.opensearch ? [openSearchEngine(addresses.opensearch, opensearch)] : []),
    ...(addresses.elasticsearch ? [openSearchEngine(addresses.elasticsearch, elasticsearch)] : []),
  ];
  try {
    const figures = await measurePostgres(deps);
    for (const server of servers) figures.push(...(await compare(deps, server)));
    return figures;
  } finally {
    await engine.close();
    rmSync(folder, { recursive: true });
  }
}

function measurePostgres(deps: FixtureDeps): Promise<QualityFigure[]> {
  return withInProcessProgram(({ url }) =>
    withClient(url, async (client) => {
      const role = { user: 'portable_reader', password: 'pw' };
      await client.query(
        `create role ${role.user} login password '${role.password}'; grant usage on schema public to ${role.user}`,
      );
      // A connection needs a host and a port, but the embedded server listens on a socket only.
      return compare(deps, openPostgres(client, await startDelayProxy(url), role));
    }),
  );
}

async function compare(deps: FixtureDeps, engine: PortableEngine): Promise<QualityFigure[]> {
  const cases = listShippedCases();
  const problems: QualityFigure[] = [];
  let [read, stored] = [0, 0];
  for (const one of cases) {
    stored += Object.values(one.events).flat().length;
    try {
      const expected = toComparableRows(
        await searchEmbedded(deps, one.query, mapEvents(one, engine.toDocument), limits),
      );
      const found = await searchThere(deps, engine, one);
      read += found.read;
      const rows = toComparableRows(found.rows);
      if (rows.join('\n') !== expected.join('\n'))
        problems.push({ name: `differs on ${engine.name}: ${one.id}`, measured: describeDifference(rows, expected) });
    } catch (error) {
      problems.push({ name: `fails on ${engine.name}: ${one.id}`, measured: (error as Error).message.split('\n')[0]! });
    }
  }
  return [
    {
      name: `shipped detections with the same rows on ${engine.name} (${await engine.readVersion()}) as on the embedded engine`,
      measured: `${cases.length - problems.length}/${cases.length}`,
      target: 'all',
      isMet: problems.length === 0,
    },
    { name: `events that ${engine.name} returned, of those in its tables`, measured: `${read} of ${stored}` },
    ...problems,
  ];
}

const mapEvents = ({ events }: ShippedCase, toDocument: PortableEngine['toDocument']): ShippedCase['events'] =>
  Object.fromEntries(
    Object.entries(events).map(([name, list]) => [name, list.map((one) => ({ ...one, event: toDocument(one) }))]),
  );

/** `read`: the events that the server returned. */
async function searchThere(
  deps: FixtureDeps,
  engine: PortableEngine,
  one: ShippedCase,
): Promise<{ rows: QueryRow[]; read: number }> {
  let read = 0;
  const counted: SiemConnection = {
    ...engine.connection,
    clock: 'event',
    delayMs: 0,
    search: async (...input) => {
      const result = await engine.connection.search(...input);
      read += result.rows.length;
      return result;
    },
  };
  const tables = Object.keys(one.events).map((name) => [name, `tocsin_${name}`] as const);
  const { kind, timeField, eventField: event } = engine;
  const datasets = Object.fromEntries(tables.map(([name, source]) => [name, { source, event }]));
  const portable = withPortableQueries(counted, deps, { kind, timeField, datasets });
  const query = toPortableQuery(one.query);
  const signal = AbortSignal.timeout(limits.timeoutMs);
  try {
    for (const [name, table] of tables) await engine.load(table, one.events[name]!);
    await portable.check(query, signal);
    const { rows } = await portable.search(query, shippedWindow, limits, signal);
    return { rows, read };
  } finally {
    for (const [, table] of tables) await engine.drop(table);
  }
}

function describeDifference(rows: readonly string[], expected: readonly string[]): string {
  const [added, missing] = [new Set(rows).difference(new Set(expected)), new Set(expected).difference(new Set(rows))];
  const show = (set: ReadonlySet<string>): string => [...set].join(' ').slice(0, 300) || 'none';
  return `rows only there: ${show(added)}, only by the embedded engine: ${show(missing)}`;
}
