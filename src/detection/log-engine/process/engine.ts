import { LRUCache } from 'lru-cache';
import type { QueryRow } from '../../siem/connector.ts';
import { cancelledError, engineError } from '../engine-failures.ts';
import {
  collectBatch,
  collectWindows,
  formatTimes,
  type BatchJob,
  type BatchPart,
  type BatchResult,
  type ListTable,
  type WindowRows,
  type MaintenanceJob,
  type MatchJob,
  type MatchSet,
  type QueryEnd,
  type QueryJob,
  type WindowsJob,
} from '../queries/protocol.ts';
import type { Inspection } from '../inspection/inspection.ts';
import { createEngineQueue, type EngineQueue } from './engine-queue.ts';
import { createTask, type EngineResult, type EngineTaskInput } from './engine-task.ts';

export type EngineOptions = {
  /** Returns the folder with everything that an organization's engine may read. */
  directoryOf: (organization: string) => string;
  /** Returns those of an organization's value lists that exist. Without it, there are none. */
  readLists?: (organization: string, names: readonly string[]) => Promise<ListTable[]>;
  /** Engine processes of all organizations. */
  processesMax?: number;
  /** Tasks that one engine process runs at the same time. */
  concurrency?: number;
  idleMs?: number;
  queueMax?: number;
  memoryMb?: number;
  residentMb?: number;
  /** How long after a statement was interrupted its process is killed, unless it has finished. */
  graceMs?: number;
};

type RunOptions = { timeoutMs: number; signal?: AbortSignal };

type QueryResult = { rows: QueryRow[] } & Omit<QueryEnd, 'times'>;

/** The embedded engine: DuckDB, in one child process per organization and never in this process. All calls throw a SiemError. */
export type LogEngine = {
  /** Returns what a query reads. Throws unless it is a single SELECT within the allow-lists. Results are cached by query text. */
  inspect: (organization: string, sql: string, options?: RunOptions) => Promise<Inspection>;
  /** Returns those of the value lists that exist, for the jobs of queries that read them. */
  readLists: NonNullable<EngineOptions['readLists']>;
  query: (organization: string, job: QueryJob, options: RunOptions) => Promise<QueryResult>;
  /** Returns `{rule, rows}` for each rule of the set that matches. Sends the set only if the engine does not have it. */
  match: (
    organization: string,
    job: Omit<MatchJob, 'set' | 'setKey'> & { set: MatchSet & { key: string } },
    options: RunOptions,
  ) => Promise<QueryResult>;
  /** Returns the results of the first windows, in order: all, or those before a window that fails or exceeds the limits of the job. */
  windows: (organization: string, job: WindowsJob, options: RunOptions) => Promise<QueryResult[]>;
  /** Returns the results of the queries of a batch, in order. */
  batch: (organization: string, job: BatchJob, options: RunOptions) => Promise<BatchResult[]>;
  /** Returns the rows of the last statement. */
  maintain: (organization: string, job: MaintenanceJob, options: RunOptions) => Promise<Record<string, unknown>[]>;
  /** Returns the number of running engine processes. */
  processCount: () => number;
  /** Ends every engine process. Waiting and running queries fail as cancelled. */
  close: () => Promise<void>;
};

/** The longest query text, in characters. */
export const queryCharsMax = 100_000;

/** Creates the engine. Defaults: 4 processes, 2 tasks at a time in each, idle processes end after a minute, 1,000 waiting queries per organization, 2 s of grace. */
export function createEngine(options: EngineOptions): LogEngine {
  const { processesMax = 4, concurrency = 2, idleMs = 60_000, queueMax = 1000 } = options;
  const { memoryMb = 512, residentMb = 1536, graceMs = 2000 } = options;
  const state: EngineQueues = {
    queues: new Map(),
    processesMax,
    openQueue: (organization, onChange) => {
      const opening = { directory: options.directoryOf(organization), memoryMb, residentMb };
      return createEngineQueue(opening, { concurrency, graceMs }, onChange);
    },
    isClosed: false,
    turnTimer: undefined,
  };
  const inspections = createInspectionCache();
  let lastTaskId = 0;
  const idleTimer = setInterval(() => retireIdle(state, performance.now() - idleMs), Math.min(idleMs, 5000)).unref();

  function submit(organization: string, input: EngineTaskInput): Promise<EngineResult> {
    if (state.isClosed || input.signal?.aborted) return Promise.reject(cancelledError());
    const queue = findOrOpenQueue(state, organization);
    if (queue.waiting.length >= queueMax)
      return Promise.reject(engineError('Too many queries of this organization are waiting. Try again later.'));
    const { task, result } = createTask(++lastTaskId, input, (aborted) => queue.stop(aborted, cancelledError()));
    queue.waiting.push(task);
    startTasks(state);
    return result;
  }

  return {
    processCount: () => countProcesses(state),
    readLists: options.readLists ?? (async () => []),
    async inspect(organization, sql, run = { timeoutMs: 5000 }) {
      const cached = inspections.get(sql);
      if (cached) return cached;
      const { inspection } = await submit(organization, { ...run, message: (id) => ({ kind: 'inspect', id, sql }) });
      if (!inspection) throw engineError('The query engine did not return an inspection.');
      inspections.set(sql, inspection);
      return inspection;
    },
    async query(organization, job, run) {
      const { rows, end } = await submit(organization, { ...run, message: (id) => ({ kind: 'query', id, job }) });
      return formatTimes({ rows, ...end });
    },
    async match(organization, { set: { key: setKey, ...set }, ...rest }, run) {
      const match = (job: MatchJob) => submit(organization, { ...run, message: (id) => ({ kind: 'match', id, job }) });
      const known = await match({ ...rest, setKey });
      const { rows, end } = known.end.isSetUnknown ? await match({ ...rest, setKey, set }) : known;
      for (const matched of rows as { rows: QueryRow[] | null }[])
        if (matched.rows) formatTimes({ rows: matched.rows, times: end.times });
      return { rows, ...end };
    },
    async windows(organization, job, run) {
      const { rows } = await submit(organization, { ...run, message: (id) => ({ kind: 'windows', id, job }) });
      return collectWindows(rows as WindowRows[]).map(formatTimes);
    },
    async batch(organization, job, run) {
      const { rows } = await submit(organization, { ...run, message: (id) => ({ kind: 'batch', id, job }) });
      return collectBatch(rows as BatchPart[], job.queries.length);
    },
    async maintain(organization, job, run) {
      return (await submit(organization, { ...run, message: (id) => ({ kind: 'maintain', id, job }) })).rows;
    },
    async close() {
      clearInterval(idleTimer);
      closeQueues(state);
      while (countProcesses(state) > 0) await new Promise((resolve) => setTimeout(resolve, 5));
    },
  };
}

/** The queues of all organizations, which share a number of processes. */
type EngineQueues = {
  /** By organization, in the order in which they start tasks. */
  queues: Map<string, EngineQueue>;
  processesMax: number;
  /** Creates the queue of an organization, which calls `onChange` whenever another task might be able to start. */
  openQueue: (organization: string, onChange: () => void) => EngineQueue;
  isClosed: boolean;
  /** Starts tasks again when the longest turn may end. */
  turnTimer: NodeJS.Timeout | undefined;
};

/** How long an engine runs at least before it makes room for another organization's. */
const turnMs = 500;

/** Returns the number of running processes. */
const countProcesses = ({ queues }: EngineQueues): number =>
  [...queues.values()].reduce((sum, queue) => sum + queue.processCount(), 0);

/** Returns the queue of an organization, and opens it if it is not open. */
function findOrOpenQueue(state: EngineQueues, organization: string): EngineQueue {
  const existing = state.queues.get(organization);
  if (existing) return existing;
  const queue = state.openQueue(organization, () => startTasks(state));
  state.queues.set(organization, queue);
  return queue;
}

/** Starts waiting tasks of all organizations as far as there are processes. */
function startTasks(state: EngineQueues): void {
  if (state.isClosed) return;
  // A copy, because `makeRoom` may move queues to the end of the order.
  const inOrder = [...state.queues.values()];
  for (const queue of inOrder) while (queue.canStart() && (queue.hasEngine() || makeRoom(state))) queue.start();
}

/** Retires the engines that have been idle since before a time in monotonic milliseconds, and closes queues with nothing to do. */
function retireIdle({ queues }: EngineQueues, before: number): void {
  for (const [organization, queue] of queues) {
    const since = queue.idleSince();
    if (since !== undefined && since < before) queue.retire();
    if (queue.processCount() === 0 && queue.waiting.length === 0) queues.delete(organization);
  }
}

/** Starts no more tasks, and closes all queues. */
function closeQueues(state: EngineQueues): void {
  state.isClosed = true;
  clearTimeout(state.turnTimer);
  for (const queue of state.queues.values()) queue.close();
}

/** Returns whether another process can be started. If not, retires one, whose end calls `startTasks` again. */
function makeRoom(state: EngineQueues): boolean {
  if (countProcesses(state) < state.processesMax) return true;
  const idle = [...state.queues.values()].filter((queue) => queue.idleSince() !== undefined);
  if (idle.length > 0) idle.toSorted((a, b) => a.idleSince()! - b.idleSince()!)[0]!.retire();
  else endLongestTurn(state);
  return false;
}

/** Retires the engine that has run longest, so that organizations with constant load do not lock out the others. */
function endLongestTurn(state: EngineQueues): void {
  const { queues } = state;
  const isAnyRetiring = [...queues.values()].some((queue) => queue.processCount() > (queue.hasEngine() ? 1 : 0));
  if (isAnyRetiring) return;
  const [longest] = [...queues].toSorted((a, b) => a[1].startedAt() - b[1].startedAt());
  if (!longest) return;
  const [organization, queue] = longest;
  const waitMs = queue.startedAt() + turnMs - performance.now();
  if (waitMs > 0) {
    state.turnTimer ??= setTimeout(() => {
      state.turnTimer = undefined;
      startTasks(state);
    }, waitMs).unref();
    return;
  }
  queue.retire();
  // Move the queue to the end of the order in which queues start tasks.
  queues.delete(organization);
  queues.set(organization, queue);
}

const bytesMax = 16 * 1024 * 1024;
/** An object takes about this many times the memory of its JSON. */
const objectFactor = 6;

/** Inspections by query text. Bounded by memory, because a query may have 100,000 characters and as many names. */
type InspectionCache = LRUCache<string, Inspection>;

export function createInspectionCache(): InspectionCache {
  return new LRUCache({
    maxSize: bytesMax,
    maxEntrySize: bytesMax / 8,
    sizeCalculation: (inspection, sql) => 2 * sql.length + objectFactor * JSON.stringify(inspection).length,
  });
}
