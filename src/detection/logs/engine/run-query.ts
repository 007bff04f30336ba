import { DuckDBTimestampValue, type DuckDBConnection, type DuckDBResult } from '@duckdb/node-api';
import { toJson } from './result-values.ts';
import { inspectTree } from './inspect-tree.ts';
import { wrapQuery, orderByClause, stripTrailingSemicolon } from './statement.ts';
import type { QueryEnd, QueryJob } from './protocol.ts';

type Row = Record<string, unknown>;

/** Sends rows on; resolves when the receiver took them, so that a fast query does not fill the memory of either side. */
export type SendRows = (rows: Row[]) => Promise<void>;

/** The tree of a statement as JSON text, as `inspectTree` takes it. */
export async function serializeTree(connection: DuckDBConnection, sql: string): Promise<string> {
  const result = await connection.runAndReadAll('SELECT json_serialize_sql($1::VARCHAR)', [sql]);
  return String(result.getRows()[0]?.[0]);
}

/**
 * Runs a query over one window. The text is held against the allow-lists here, in the process that runs it, whoever asked.
 * Rows come in the order of `_time` and `_id` where the result has them; beyond `rowsMax` or `bytesMax` they are cut, and counted.
 */
export async function runQuery(connection: DuckDBConnection, job: QueryJob, send: SendRows): Promise<QueryEnd> {
  const tree = await serializeTree(connection, job.sql);
  const { parameters } = inspectTree(tree);
  const shape = unplaced(tree);
  const sql = await stripTrailingSemicolon(
    job.sql,
    async (cut) => unplaced(await serializeTree(connection, cut)) === shape,
  );
  const values = Object.fromEntries(
    parameters.map((name) => [name, bound(name === 'window_start' ? job.bounds.from : job.bounds.to)]),
  );
  if (job.mode === 'check') {
    await connection.run(wrapQuery(job, sql, '*', 'LIMIT 0'), values);
    return { total: 0, truncated: false };
  }
  const first = await read(await connection.stream(wrapQuery(job, sql, '*', `LIMIT ${job.rowsMax + 1}`), values), job);
  if (!first.cut) {
    if (!job.aggregate) sortByKey(first.rows);
    await sendAll(first.rows, send);
    return { total: first.rows.length, truncated: false };
  }
  const ordered = wrapQuery(job, sql, '*', `${orderByClause(first.columns)} LIMIT ${job.rowsMax + 1}`);
  const kept = await read(await connection.stream(ordered, values), job);
  const counted = await connection.runAndReadAll(wrapQuery(job, sql, 'count(*)', ''), values);
  await sendAll(kept.rows.slice(0, job.rowsMax), send);
  return { total: Number(counted.getRows()[0]?.[0]), truncated: true };
}

// Positions differ between a text and its copy without the end; everything else must not.
function unplaced(tree: string): string {
  return tree.replace(/"query_location":\d+/g, '');
}

function bound(iso: string): DuckDBTimestampValue {
  return new DuckDBTimestampValue(BigInt(Date.parse(iso)) * 1000n);
}

type Read = { rows: Row[]; columns: string[]; cut: boolean };

async function read(result: DuckDBResult, job: QueryJob): Promise<Read> {
  const columns = result.deduplicatedColumnNames();
  const types = result.columnTypes();
  const rows: Row[] = [];
  let bytes = 0;
  for (let chunk = await result.fetchChunk(); chunk && chunk.rowCount > 0; chunk = await result.fetchChunk()) {
    for (const values of chunk.getRows()) {
      const row = Object.fromEntries(columns.map((name, index) => [name, toJson(values[index] ?? null, types[index])]));
      bytes += sizeOf(row);
      if (rows.length >= job.rowsMax || bytes > job.bytesMax) return { rows, columns, cut: true };
      rows.push(row);
    }
  }
  return { rows, columns, cut: false };
}

function sizeOf(row: Row): number {
  let size = 2;
  for (const [key, value] of Object.entries(row)) {
    size += key.length + 4;
    if (typeof value === 'string') size += value.length;
    else size += value !== null && typeof value === 'object' ? JSON.stringify(value).length : 8;
  }
  return size;
}

function sortByKey(rows: Row[]): void {
  const first = rows[0];
  if (!first || (!('_time' in first) && !('_id' in first))) return;
  rows.sort((a, b) => compare(a['_time'], b['_time']) || compare(a['_id'], b['_id']));
}

function compare(a: unknown, b: unknown): number {
  const [x, y] = [String(a ?? ''), String(b ?? '')];
  return x < y ? -1 : x > y ? 1 : 0;
}

async function sendAll(rows: Row[], send: SendRows): Promise<void> {
  for (let from = 0; from < rows.length; from += 1000) await send(rows.slice(from, from + 1000));
}
