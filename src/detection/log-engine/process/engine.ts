import { cancelledError, engineError } from '../engine-failures.ts';
import { createLane } from './engine-lane.ts';
import {
  closeLanes,
  countProcesses,
  findOrOpenLane,
  retireIdle,
  startTasks,
  type EngineLanes,
} from './engine-lanes.ts';
import { createTask, type EngineResult, type EngineTaskInput } from './engine-task.ts';
import { createInspectionCache } from '../inspection/inspection-cache.ts';
import { collectWindows, type WindowRows } from '../queries/collect-windows.ts';
import { formatTimes } from '../queries/format-times.ts';
import type { Inspection } from '../inspection/inspect-tree.ts';
import type { QueryRow } from '../../siem/connector.ts';
import type { MaintenanceJob, MatchJob, QueryEnd, QueryJob, WindowsJob } from '../queries/protocol.ts';

export type EngineOptions = {
  /** Returns the folder with everything that an organization's engine may read. */
  directoryOf: (organization: string) => string;
  /** Engine processes of all organizations. */
  processesMax?: number;
  /** Tasks that one engine process runs at the same time. */
  concurrency?: number;
  idleMs?: number;
  queueMax?: number;
  memoryMb?: number;
  residentMb?: number;
};

type RunOptions = { timeoutMs: number; signal?: AbortSignal };

type QueryResult = { rows: QueryRow[] } & Omit<QueryEnd, 'times'>;

/** The embedded engine: DuckDB, in one child process per organization and never in this process. All calls throw a SiemError. */
export type LogEngine = {
  /** Returns what a query reads. Throws unless it is a single SELECT within the allow-lists. Results are cached by query text. */
  inspect: (organization: string, sql: string, options?: RunOptions) => Promise<Inspection>;
  query: (organization: string, job: QueryJob, options: RunOptions) => Promise<QueryResult>;
  /** Returns `{rule, rows}` for each rule of the job that matches. */
  match: (organization: string, job: MatchJob, options: RunOptions) => Promise<QueryResult>;
  /** Returns the results of the first windows, in order: all, or those before a window that fails or exceeds the limits of the job. */
  windows: (organization: string, job: WindowsJob, options: RunOptions) => Promise<QueryResult[]>;
  /** Returns the rows of the last statement. */
  maintain: (organization: string, job: MaintenanceJob, options: RunOptions) => Promise<Record<string, unknown>[]>;
  /** Returns the number of running engine processes. */
  processCount: () => number;
  /** Ends every engine process. Waiting and running queries fail as cancelled. */
  close: () => Promise<void>;
};

/** The longest query text, in characters. */
export const queryCharsMax = 100_000;

/** Creates the engine. Defaults: 4 processes, 2 tasks at a time in each, idle processes end after a minute, 1,000 waiting queries per organization. */
export function createEngine(options: EngineOptions): LogEngine {
  const { processesMax = 4, concurrency = 2, idleMs = 60_000, queueMax = 1000 } = options;
  const { memoryMb = 512, residentMb = 1536 } = options;
  const state: EngineLanes = {
    lanes: new Map(),
    processesMax,
    openLane: (organization, onChange) =>
      createLane({ directory: options.directoryOf(organization), memoryMb, residentMb }, concurrency, onChange),
    isClosed: false,
    turnTimer: undefined,
  };
  const inspections = createInspectionCache();
  let lastTaskId = 0;
  const idleTimer = setInterval(() => retireIdle(state, performance.now() - idleMs), Math.min(idleMs, 5000)).unref();

  function submit(organization: string, input: EngineTaskInput): Promise<EngineResult> {
    if (state.isClosed || input.signal?.aborted) return Promise.reject(cancelledError());
    const lane = findOrOpenLane(state, organization);
    if (lane.queue.length >= queueMax)
      return Promise.reject(engineError('Too many queries of this organization are waiting. Try again later.'));
    const { task, result } = createTask(++lastTaskId, input, (aborted) => lane.stop(aborted, cancelledError()));
    lane.queue.push(task);
    startTasks(state);
    return result;
  }

  return {
    processCount: () => countProcesses(state),
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
    async match(organization, job, run) {
      const { rows, end } = await submit(organization, { ...run, message: (id) => ({ kind: 'match', id, job }) });
      for (const matched of rows as { rows: QueryRow[] | null }[])
        if (matched.rows) formatTimes({ rows: matched.rows, times: end.times });
      return { rows, ...end };
    },
    async windows(organization, job, run) {
      const { rows } = await submit(organization, { ...run, message: (id) => ({ kind: 'windows', id, job }) });
      return collectWindows(rows as WindowRows[]).map(formatTimes);
    },
    async maintain(organization, job, run) {
      return (await submit(organization, { ...run, message: (id) => ({ kind: 'maintain', id, job }) })).rows;
    },
    async close() {
      clearInterval(idleTimer);
      closeLanes(state);
      while (countProcesses(state) > 0) await new Promise((resolve) => setTimeout(resolve, 5));
    },
  };
}
