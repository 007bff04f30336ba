import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { DuckDBInstance } from '@duckdb/node-api';

import { addressFunctionsSql } from '../detection/log-engine/sql/added-functions.ts';
import { eventFunctionsSql } from '../detection/log-engine/sql/added-functions.ts';

/** An event and the dataset it belongs to. */
export type SampleEvent = { dataset: string; event: Record<string, unknown> };

export type SampleRow = Record<string, unknown>;

/** An in-process replacement for the log store with the same column names and with windows on event time. */
export type SampleEngine = {
  setWindow: (from: Date, to: Date) => Promise<void>;
  run: (query: string) => Promise<SampleRow[]>;
  close: () => void;
};

const readId = (event: SampleEvent['event']): string =>
  String(event['eventID'] ?? (event['event'] as { id?: string } | undefined)?.id);
const readTime = (event: SampleEvent['event']): string => String(event['@timestamp'] ?? event['eventTime']);

function toJsonLine({ event }: SampleEvent): string {
  const time = readTime(event);
  return JSON.stringify({ ...event, _id: readId(event), _time: time, _ingested: time, _event: JSON.stringify(event) });
}

/** Converts a value to the JSON value that the log store returns. Times become ISO text. */
function toJsonValue(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value);
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map(toJsonValue);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, toJsonValue(inner)]));
}

/** One event for each dataset that a shipped query can read, so that every table exists. */
const DATASET_EVENTS: Record<string, SampleEvent['event']> = {
  auth: { '@timestamp': '2000-01-01T00:00:00Z' },
  windows: { '@timestamp': '2000-01-01T00:00:00Z' },
  proxy: { '@timestamp': '2000-01-01T00:00:00Z' },
  cloudtrail: {
    eventTime: '2000-01-01T00:00:00Z',
    eventName: '',
    eventSource: '',
    awsRegion: '',
    sourceIPAddress: '',
    userAgent: '',
  },
};

/** Loads events into an in-memory DuckDB. Times are UTC. The initial window includes all events. */
export async function openSampleEngine(events: Iterable<SampleEvent>): Promise<SampleEngine> {
  const lines = new Map(
    Object.entries(DATASET_EVENTS).map(([name, event]) => [name, [toJsonLine({ dataset: name, event })]]),
  );
  for (const event of events) lines.get(event.dataset)?.push(toJsonLine(event));
  const folder = mkdtempSync(join(tmpdir(), 'tocsin-samples-'));
  const db = await (await DuckDBInstance.create(':memory:', { threads: '1' })).connect();
  await db.run("SET TimeZone = 'UTC'");
  for (const statement of [...eventFunctionsSql, ...addressFunctionsSql]) await db.run(statement);
  for (const [name, list] of lines) {
    const file = join(folder, `${name}.ndjson`);
    writeFileSync(file, list.join('\n'));
    await db.run(`CREATE TABLE ${name}_all AS SELECT * REPLACE (_event::JSON AS _event, _time::TIMESTAMP AS _time,
      _ingested::TIMESTAMP AS _ingested) FROM read_json('${file}', format = 'newline_delimited', sample_size = -1)`);
  }
  rmSync(folder, { recursive: true });
  for (const name of lines.keys())
    await db.run(`CREATE VIEW ${name} AS SELECT * FROM ${name}_all
      WHERE _ingested >= getvariable('window_from')::TIMESTAMP AND _ingested < getvariable('window_to')::TIMESTAMP`);
  const setWindow = async (from: Date, to: Date): Promise<void> => {
    await db.run(`SET VARIABLE window_from = '${from.toISOString()}'`);
    await db.run(`SET VARIABLE window_to = '${to.toISOString()}'`);
  };
  await setWindow(new Date('2001-01-01'), new Date('2100-01-01'));
  const run = async (query: string): Promise<SampleRow[]> =>
    (await db.runAndReadAll(query)).getRowObjectsJS().map((row) => toJsonValue(row) as SampleRow);
  return { setWindow, run, close: () => db.closeSync() };
}
