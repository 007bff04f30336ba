import type { DuckDBConnection } from '@duckdb/node-api';
import { SiemError } from '../../siem/connector.ts';
import { isTypeError } from '../engine-failures.ts';
import { slotBoundsSql } from '../sql/slot-time.ts';
import { duck, quoteIdentifier, type SqlText } from '../sql/sql-text.ts';
import { addNulls } from '../sql/table-sql.ts';
import { storedName, type WindowRows, type QueryEnd, type WindowsJob } from './protocol.ts';
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
