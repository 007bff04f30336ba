import type { DuckDBConnection } from '@duckdb/node-api';
import { readEngineError, timeoutError } from '../engine-failures.ts';
import { serializeTrees } from '../parse-tree.ts';
import { duck } from '../sql/sql-text.ts';
import { storedName, type BatchJob, type BatchPart, type QueryEnd } from './protocol.ts';
import { runQuery } from './run-query.ts';

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
