// The process that holds one organization's engine. It is started by `engine.ts`, talks over its IPC channel alone, and is killed freely.
import { writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { readEngineError } from './engine-failures.ts';
import { inspectTree } from './inspect-tree.ts';
import { openInstance } from './instance.ts';
import { runQuery, serializeTree } from './run-query.ts';
import type { FromChild, ToChild } from './protocol.ts';

type Open = { instance: DuckDBInstance; plain: DuckDBConnection; running: Map<number, DuckDBConnection> };

let open: Promise<Open> | undefined;

// Threads inherit this, so it comes before the first of them.
setPriority(10);
try {
  writeFileSync('/proc/self/oom_score_adj', '1000');
} catch {
  // Not Linux: the system chooses by itself whom to end when memory runs out.
}

function post(message: FromChild): Promise<void> {
  return new Promise((resolve) => {
    process.send?.(message, () => resolve());
  });
}

function end(): void {
  process.kill(process.pid, 'SIGKILL');
}

// A statement still running would keep an orderly exit waiting.
process.on('disconnect', end);

process.on('message', (message: ToChild) => {
  void handle(message).catch(end);
});

async function handle(message: ToChild): Promise<void> {
  if (message.kind === 'open') {
    watchMemory(message.options.residentMb);
    open = openInstance(message.options).then(async (instance) => ({
      instance,
      plain: await instance.connect(),
      running: new Map(),
    }));
    await open;
    await post({ kind: 'ready' });
    return;
  }
  if (!open) throw new Error('not open');
  const state = await open;
  if (message.kind === 'cancel') state.running.get(message.id)?.interrupt();
  else if (message.kind === 'inspect') await inspect(state, message.id, message.sql);
  else await work(state, message);
}

async function inspect(state: Open, id: number, sql: string): Promise<void> {
  try {
    await post({ kind: 'inspected', id, inspection: inspectTree(await serializeTree(state.plain, sql)) });
  } catch (error) {
    await fail(id, error);
  }
}

async function work(state: Open, message: Extract<ToChild, { kind: 'query' | 'maintain' }>): Promise<void> {
  const { id } = message;
  const connection = await state.instance.connect();
  state.running.set(id, connection);
  try {
    if (message.kind === 'query') {
      const done = await runQuery(connection, message.job, (rows) => post({ kind: 'rows', id, rows }));
      await post({ kind: 'done', id, end: done });
    } else {
      for (const statement of message.job.statements) await connection.run(statement);
      await post({ kind: 'done', id, end: { total: 0, truncated: false } });
    }
  } catch (error) {
    await fail(id, error);
  } finally {
    state.running.delete(id);
    connection.closeSync();
  }
}

async function fail(id: number, error: unknown): Promise<void> {
  const { error: found, poisoned } = readEngineError(error);
  await post({ kind: 'failed', id, failure: found.failure, poisoned });
}

// The engine's own limit does not count all that a function allocates.
function watchMemory(residentMb: number): void {
  setInterval(() => {
    if (process.memoryUsage.rss() > residentMb * 1_048_576) void post({ kind: 'over' }).then(end);
  }, 50).unref();
}
