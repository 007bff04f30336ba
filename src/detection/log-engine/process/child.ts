// The process that runs one organization's engine. Started by engine-queue.ts, communicates only over its IPC channel, and can be killed
// at any time.

import { writeFileSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { setPriority } from 'node:os';
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { SiemError } from '../../siem/connector.ts';
import { addressFunctionsSql, eventFunctionsSql } from '../sql/added-functions.ts';
import { isTypeError, readEngineError } from '../engine-failures.ts';
import { inspectTree } from '../inspection/inspect-tree.ts';
import { runBatch, runWindows } from '../queries/run-on-stored-rows.ts';
import { runQuery, type SendRows } from '../queries/run-query.ts';
import { serializeTree } from '../parse-tree.ts';
import type { FromChild, OpenOptions, QueryEnd, QueryJob, ToChild } from '../queries/protocol.ts';
import { quoteLiteral } from '../sql/sql-text.ts';

type OpenEngine = {
  instance: DuckDBInstance;
  inspectConnection: DuckDBConnection;
  options: OpenOptions;
  /** The instance that runs lenient queries. It converts between text and other types wherever a query needs it. */
  lenient: Promise<DuckDBInstance> | undefined;
  running: Map<number, DuckDBConnection>;
};

/** The rows of a job. `send` keeps the last ones, which `end` sends with the end of the result: most results are one message. */
type Answer = { send: (rows: Record<string, unknown>[]) => Promise<void>; end: (end: QueryEnd) => Promise<void> };

function createAnswer(id: number): Answer {
  let kept: Record<string, unknown>[] = [];
  return {
    send(rows) {
      const earlier = kept;
      kept = rows;
      return earlier.length > 0 ? post({ kind: 'rows', id, rows: earlier }) : Promise.resolve();
    },
    end: (end) => post({ kind: 'done', id, rows: kept, end }),
  };
}

/** This process has exactly one engine, which the first message opens. */
let engine: Promise<OpenEngine> | undefined;

// Set before any thread starts, because threads inherit the priority.
setPriority(10);
try {
  writeFileSync('/proc/self/oom_score_adj', '1000');
} catch {
  // Only Linux has this setting.
}

function post(message: FromChild): Promise<void> {
  return new Promise((resolve) => {
    process.send?.(message, () => resolve());
  });
}

function killSelf(): void {
  process.kill(process.pid, 'SIGKILL');
}

// Kill the process, because an orderly exit would wait for the running statement.
process.on('disconnect', killSelf);

process.on('message', (message: ToChild) => {
  void handle(message).catch(killSelf);
});

async function handle(message: ToChild): Promise<void> {
  if (message.kind === 'open') {
    engine = openInstance(message.options).then(async (instance) => ({
      instance,
      inspectConnection: await instance.connect(),
      options: message.options,
      lenient: undefined,
      running: new Map(),
    }));
    await engine;
    await post({ kind: 'ready' });
    // Node.js does this at an orderly exit, which this process never has.
    flushCompileCache();
    return;
  }
  if (!engine) throw new Error('The engine is not open.');
  const state = await engine;
  if (message.kind === 'cancel') state.running.get(message.id)?.interrupt();
  else if (message.kind === 'inspect') await inspect(state, message.id, message.sql);
  else await runJob(state, message);
}

async function inspect(state: OpenEngine, id: number, sql: string): Promise<void> {
  const endWatch = watchMemory(state.options.residentMb);
  try {
    await post({ kind: 'inspected', id, inspection: inspectTree(await serializeTree(state.inspectConnection, sql)) });
  } catch (error) {
    await postFailure(id, error);
  } finally {
    endWatch();
  }
}

type JobMessage = Extract<ToChild, { kind: 'query' | 'match' | 'windows' | 'batch' | 'maintain' }>;

async function runJob(state: OpenEngine, message: JobMessage): Promise<void> {
  const { id } = message;
  const connection = await state.instance.connect();
  state.running.set(id, connection);
  const endWatch = watchMemory(state.options.residentMb);
  try {
    const answer = createAnswer(id);
    await answer.end(await run(state, connection, message, answer));
  } catch (error) {
    await postFailure(id, error);
  } finally {
    endWatch();
    state.running.delete(id);
    connection.closeSync();
  }
}

/** Runs a job and sends its rows. */
async function run(
  state: OpenEngine,
  connection: DuckDBConnection,
  message: JobMessage,
  { send }: Pick<Answer, 'send'>,
): Promise<QueryEnd> {
  switch (message.kind) {
    case 'query':
      return runStrictlyOrLeniently(state, connection, message, send);
    case 'batch':
      return runBatch(connection, message.job, send);
    // Most engines never evaluate rules, and start faster without.
    case 'match':
      return (await import('../queries/run-matches.ts')).runMatches(connection, message.job, send);
    case 'windows':
      return runWindows(connection, message.job, send);
    case 'maintain': {
      const { statements } = message.job;
      for (const statement of statements.slice(0, -1)) await connection.run(statement);
      await send((await connection.runAndReadAll(statements.at(-1)!)).getRowObjectsJS());
      return { total: 0, truncated: false, columns: [] };
    }
  }
}

/**
 * Runs a query. If it fails because of a value or the type of a column, runs it again so that only the failing expressions are NULL. Fails with
 * the first error if that is not possible.
 */
async function runStrictlyOrLeniently(
  state: OpenEngine,
  connection: DuckDBConnection,
  { id, job }: { id: number; job: QueryJob },
  send: SendRows,
): Promise<QueryEnd> {
  try {
    return await runQuery(connection, job, { send });
  } catch (error) {
    const isAboutData = error instanceof SiemError ? error.failure.blame === 'data' : isTypeError(error);
    if (!isAboutData || job.mode === 'check') throw error;
    for (const withOperands of [false, true]) {
      const end = await runLeniently(state, { id, job, withOperands, send }).catch((secondError: unknown) => {
        if (readEngineError(secondError).mustReplaceEngine) state.lenient = undefined;
      });
      if (end) return { ...end, failedValues: readEngineError(error).error.failure.message };
    }
    throw error;
  }
}

async function runLeniently(
  state: OpenEngine,
  { id, job, withOperands, send }: { id: number; job: QueryJob; withOperands: boolean; send: SendRows },
): Promise<QueryEnd> {
  state.lenient ??= openInstance(state.options, ['SET GLOBAL old_implicit_casting = true']);
  const connection = await (await state.lenient).connect();
  state.running.set(id, connection);
  try {
    return await runQuery(connection, job, { send, lenient: { withOperands } });
  } finally {
    connection.closeSync();
  }
}

async function postFailure(id: number, error: unknown): Promise<void> {
  const { error: siemError, mustReplaceEngine } = readEngineError(error);
  await post({ kind: 'failed', id, failure: siemError.failure, mustReplaceEngine });
}

/**
 * Ends the process when it takes too much memory, because the engine's own limit does not count everything that a function allocates. Returns a function
 * that looks a last time after the job.
 */
function watchMemory(residentMb: number): () => void {
  const check = (): void => {
    if (process.memoryUsage.rss() > residentMb * 1_048_576) void post({ kind: 'memory-exceeded' }).then(killSelf);
  };
  const timer = setInterval(check, 50);
  return () => {
    clearInterval(timer);
    check();
  };
}

/**
 * Opens an in-memory engine that can access one folder and nothing else: no network, no extensions, no spilling to disk, and no settings that a
 * statement could change (source: DuckDB documentation, "Securing DuckDB").
 */
async function openInstance(options: OpenOptions, settings: string[] = []): Promise<DuckDBInstance> {
  const instance = await DuckDBInstance.create(':memory:', {
    threads: '1',
    memory_limit: `${options.memoryMb}MiB`,
    temp_directory: '',
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
    allow_community_extensions: 'false',
  });
  const connection = await instance.connect();
  await connection.run("SET TimeZone = 'UTC'");
  // Files never change. A query of the past opens many.
  await connection.run('SET GLOBAL parquet_metadata_cache = true');
  for (const statement of [...settings, ...eventFunctionsSql, ...addressFunctionsSql]) await connection.run(statement);
  await connection.run(`SET allowed_directories = [${quoteLiteral(`${options.directory}/`)}]`);
  await connection.run('SET enable_external_access = false');
  await connection.run('SET lock_configuration = true');
  connection.closeSync();
  return instance;
}
