import { cancelledError, engineError } from './engine-failures.ts';
import { createLane, type EngineLane } from './engine-lane.ts';
import { createTask, type EngineResult, type EngineTaskInput } from './engine-task.ts';
import { createInspectionCache } from './sql/inspection-cache.ts';
import { collectWindows, type WindowRows } from './queries/collect-windows.ts';
import type { Inspection } from './sql/inspect-tree.ts';
import type { MaintenanceJob, MatchJob, QueryEnd, QueryJob, WindowsJob } from './protocol.ts';

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

type QueryResult = { rows: Record<string, unknown>[] } & QueryEnd;

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
/** How long an engine runs at least before it makes room for another organization's. */
const turnMs = 500;

export function createEngine(options: EngineOptions): LogEngine {
  const { processesMax = 4, concurrency = 2, idleMs = 60_000, queueMax = 1000 } = options;
  const { memoryMb = 512, residentMb = 1536 } = options;
  const lanes = new Map<string, EngineLane>();
  const inspections = createInspectionCache();
  let lastTaskId = 0;
  let isClosed = false;
  let turnTimer: NodeJS.Timeout | undefined;
  const idleTimer = setInterval(() => retireIdle(performance.now() - idleMs), Math.min(idleMs, 5000)).unref();

  const processCount = (): number => [...lanes.values()].reduce((sum, lane) => sum + lane.processCount(), 0);

  function openLane(organization: string): EngineLane {
    const existing = lanes.get(organization);
    if (existing) return existing;
    const directory = options.directoryOf(organization);
    const lane = createLane({ directory, memoryMb, residentMb }, concurrency, startTasks);
    lanes.set(organization, lane);
    return lane;
  }

  function retireIdle(before: number): void {
    for (const [organization, lane] of lanes) {
      const since = lane.idleSince();
      if (since !== undefined && since < before) lane.retire();
      if (lane.processCount() === 0 && lane.queue.length === 0) lanes.delete(organization);
    }
  }

  /** Reports whether another process can be started. If not, retires one, whose end calls `startTasks` again. */
  function makeRoom(): boolean {
    if (processCount() < processesMax) return true;
    const idle = [...lanes.values()].filter((lane) => lane.idleSince() !== undefined);
    if (idle.length > 0) idle.toSorted((a, b) => a.idleSince()! - b.idleSince()!)[0]!.retire();
    else endLongestTurn();
    return false;
  }

  /** Retires the engine that has run longest, so that organizations with constant load do not lock out the others. */
  function endLongestTurn(): void {
    const isAnyRetiring = [...lanes.values()].some((lane) => lane.processCount() > (lane.hasEngine() ? 1 : 0));
    if (isAnyRetiring) return;
    const [longest] = [...lanes].toSorted((a, b) => a[1].startedAt() - b[1].startedAt());
    if (!longest) return;
    const [organization, lane] = longest;
    const waitMs = lane.startedAt() + turnMs - performance.now();
    if (waitMs > 0) {
      turnTimer ??= setTimeout(() => {
        turnTimer = undefined;
        startTasks();
      }, waitMs).unref();
      return;
    }
    lane.retire();
    // Move the lane to the end of the order in which lanes start tasks.
    lanes.delete(organization);
    lanes.set(organization, lane);
  }

  function startTasks(): void {
    if (isClosed) return;
    // A copy, because `makeRoom` may move lanes to the end of the order.
    const inOrder = [...lanes.values()];
    for (const lane of inOrder) while (lane.canStart() && (lane.hasEngine() || makeRoom())) lane.start();
  }

  function submit(organization: string, input: EngineTaskInput): Promise<EngineResult> {
    if (isClosed || input.signal?.aborted) return Promise.reject(cancelledError());
    const lane = openLane(organization);
    if (lane.queue.length >= queueMax)
      return Promise.reject(engineError('Too many queries of this organization are waiting. Try again later.'));
    const { task, result } = createTask(++lastTaskId, input, (aborted) => lane.stop(aborted, cancelledError()));
    lane.queue.push(task);
    startTasks();
    return result;
  }

  return {
    processCount,
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
      return { rows, ...end };
    },
    async match(organization, job, run) {
      const { rows, end } = await submit(organization, { ...run, message: (id) => ({ kind: 'match', id, job }) });
      return { rows, ...end };
    },
    async windows(organization, job, run) {
      const { rows } = await submit(organization, { ...run, message: (id) => ({ kind: 'windows', id, job }) });
      return collectWindows(rows as WindowRows[]);
    },
    async maintain(organization, job, run) {
      return (await submit(organization, { ...run, message: (id) => ({ kind: 'maintain', id, job }) })).rows;
    },
    async close() {
      isClosed = true;
      clearInterval(idleTimer);
      clearTimeout(turnTimer);
      for (const lane of lanes.values()) lane.close();
      while (processCount() > 0) await new Promise((resolve) => setTimeout(resolve, 5));
    },
  };
}
