// The process that runs one organization's engine. Started by child-process.ts, communicates only over its IPC channel, and can be killed
// at any time.
import { writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { eventFunctionsSql } from './event-functions.ts';
import { readEngineError } from './engine-failures.ts';
import { inspectTree } from './inspect-tree.ts';
import { runQuery, serializeTree } from './run-query.ts';
import type { FromChild, OpenOptions, ToChild } from './protocol.ts';
import { quoteLiteral } from './sql-text.ts';

type OpenEngine = {
  instance: DuckDBInstance;
  inspectConnection: DuckDBConnection;
  running: Map<number, DuckDBConnection>;
};

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
    watchMemory(message.options.residentMb);
    engine = openInstance(message.options).then(async (instance) => ({
      instance,
      inspectConnection: await instance.connect(),
      running: new Map(),
    }));
    await engine;
    await post({ kind: 'ready' });
    return;
  }
  if (!engine) throw new Error('The engine is not open.');
  const state = await engine;
  if (message.kind === 'cancel') state.running.get(message.id)?.interrupt();
  else if (message.kind === 'inspect') await inspect(state, message.id, message.sql);
  else await runJob(state, message);
}

async function inspect(state: OpenEngine, id: number, sql: string): Promise<void> {
  try {
    await post({ kind: 'inspected', id, inspection: inspectTree(await serializeTree(state.inspectConnection, sql)) });
  } catch (error) {
    await postFailure(id, error);
  }
}

async function runJob(state: OpenEngine, message: Extract<ToChild, { kind: 'query' | 'maintain' }>): Promise<void> {
  const { id } = message;
  const connection = await state.instance.connect();
  state.running.set(id, connection);
  try {
    if (message.kind === 'query') {
      const end = await runQuery(connection, message.job, (rows) => post({ kind: 'rows', id, rows }));
      await post({ kind: 'done', id, end });
    } else {
      for (const statement of message.job.statements) await connection.run(statement);
      await post({ kind: 'done', id, end: { total: 0, truncated: false, columns: [] } });
    }
  } catch (error) {
    await postFailure(id, error);
  } finally {
    state.running.delete(id);
    connection.closeSync();
  }
}

async function postFailure(id: number, error: unknown): Promise<void> {
  const { error: siemError, mustReplaceEngine } = readEngineError(error);
  await post({ kind: 'failed', id, failure: siemError.failure, mustReplaceEngine });
}

// The engine's own memory limit does not count everything that a function allocates.
function watchMemory(residentMb: number): void {
  setInterval(() => {
    if (process.memoryUsage.rss() > residentMb * 1_048_576) void post({ kind: 'memory-exceeded' }).then(killSelf);
  }, 50).unref();
}

/**
 * Opens an in-memory engine that can access one folder and nothing else: no network, no extensions, no spilling to disk, and no settings that a
 * statement could change (source: DuckDB documentation, "Securing DuckDB").
 */
async function openInstance(options: OpenOptions): Promise<DuckDBInstance> {
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
  for (const statement of eventFunctionsSql) await connection.run(statement);
  await connection.run(`SET allowed_directories = [${quoteLiteral(`${options.directory}/`)}]`);
  await connection.run('SET enable_external_access = false');
  await connection.run('SET lock_configuration = true');
  connection.closeSync();
  return instance;
}
