import type { DuckDBConnection } from '@duckdb/node-api';
import { SiemError } from '../../siem/connector.ts';
import { isTypeError, readEngineError, timeoutError } from '../engine-failures.ts';
import { serializeTrees } from '../parse-tree.ts';
import { duck, quoteIdentifier, type SqlText, slotBoundsSql } from '../sql/sql-text.ts';
import { addNulls } from '../sql/table-sql.ts';
import {
  type BatchJob,
  type BatchPart,
  type QueryEnd,
  storedName,
  type WindowRows,
  type WindowsJob,
} from './protocol.ts';
import { estimateBytes, runQuery } from './run-query.ts';

/** A job yields to others after this time. The caller continues with another one. */
const turnMs = 2000;

/**
 * Stores the rows of a job's tables and runs the query over those of each window, in order. Stops before a window that fails because of its
 * values, and once the results have `bytesMax` bytes or take two seconds. The stored rows end with the connection.
 */
export async function runWindows(
  connection: DuckDBConnection,
  { query, tables, windows }: WindowsJob,
  send: (parts: WindowRows[]) => Promise<void>,
): Promise<QueryEnd> {
  for (const [index, { rows }] of tables.entries())
    await connection.run(duck`CREATE TEMP TABLE ${storedName(index)} AS ${rows}`);
  const began = performance.now();
  let bytes = 0;
  for (const bounds of windows) {
    const job = { ...query, bounds, tables: tables.map((table, index) => selectWindow(table, index, bounds)) };
    try {
      const end = await runQuery(connection, job, {
        send: (rows) => {
          for (const row of rows) bytes += estimateBytes(row);
          return send([{ rows }]);
        },
      });
      await send([{ end }]);
    } catch (error) {
      const isAboutData = error instanceof SiemError ? error.failure.blame === 'data' : isTypeError(error);
      if (!isAboutData) throw error;
      break;
    }
    if (bytes > query.bytesMax || performance.now() - began > turnMs) break;
  }
  return { total: 0, truncated: false, columns: [] };
}

function selectWindow(
  { name, slotColumn, extra }: WindowsJob['tables'][number],
  index: number,
  { from, to }: WindowsJob['windows'][number],
): { name: string; sql: SqlText } {
  const slot = quoteIdentifier(slotColumn);
  const bounds = slotBoundsSql(slot, { from: Date.parse(from), before: Date.parse(to) });
  const rows = duck`SELECT * EXCLUDE (${slot}) FROM ${storedName(index)} WHERE ${bounds}`;
  return { name, sql: addNulls(extra, rows) };
}

/**
 * Runs the queries of a batch. One that fails or takes too long fails alone, unless the engine itself has failed. The stored rows end with the
 * connection.
 */
export async function runBatch(
  connection: DuckDBConnection,
  { stored, queries, queryMs, turnMs }: BatchJob,
  send: (parts: BatchPart[]) => Promise<void>,
): Promise<QueryEnd> {
  for (const [index, rows] of stored.entries())
    await connection.run(duck`CREATE TEMP TABLE ${storedName(index)} AS ${rows}`);
  const trees = await serializeTrees(
    connection,
    queries.map(({ sql }) => sql),
  );
  const began = performance.now();
  // Most queries return nothing. A message for each of them would take longer than some of them.
  const ends: BatchPart[] = [];
  for (const [query, job] of queries.entries()) {
    if (performance.now() - began > turnMs) break;
    let isTooSlow = false;
    const timer = setTimeout(() => {
      isTooSlow = true;
      connection.interrupt();
    }, queryMs);
    try {
      const end = await runQuery(connection, job, {
        send: (rows) => send([{ query, rows }]),
        tree: trees[query]!,
        isWhole: true,
      });
      ends.push({ query, end });
    } catch (error) {
      const { failure } = isTooSlow ? timeoutError(queryMs) : readEngineError(error).error;
      if (failure.kind === 'engine_failed') throw error;
      ends.push({ query, failure });
    } finally {
      clearTimeout(timer);
    }
  }
  await send(ends);
  return { total: 0, truncated: false, columns: [] };
}
