import { cancelledError, engineError } from './engine-failures.ts';
import { createLane, type EngineLane } from './engine-lane.ts';
import { createTask, type EngineResult, type EngineTaskInput } from './engine-task.ts';
import type { Inspection } from './inspect-tree.ts';
import type { MaintenanceJob, QueryJob } from './protocol.ts';

export type EngineOptions = {
  /** The folder that holds everything an organization's engine may read. */
  directoryOf: (organization: string) => string;
  childrenMax?: number;
  atOnce?: number;
  idleMs?: number;
  queueMax?: number;
  memoryMb?: number;
  residentMb?: number;
};

type RunOptions = { timeoutMs: number; signal?: AbortSignal };

type QueryResult = { rows: Record<string, unknown>[]; total: number; truncated: boolean };

/** The embedded engine: DuckDB in one child process per organization, never in this one. All calls throw a SiemError. */
export type LogEngine = {
  /** What a query reads; throws when it is no single SELECT within the allow-lists. Answers are kept by text. */
  inspect: (organization: string, sql: string, options?: RunOptions) => Promise<Inspection>;
  query: (organization: string, job: QueryJob, options: RunOptions) => Promise<QueryResult>;
  maintain: (organization: string, job: MaintenanceJob, options: RunOptions) => Promise<void>;
  /** The engine processes alive now. */
  live: () => number;
  /** Ends every engine process; waiting queries fail as cancelled. */
  close: () => Promise<void>;
};

/** Longest query text, in characters. */
export const queryCharsMax = 100_000;
const inspectionsMax = 2000;
/** An engine serves at least this long before it makes room for another organization's. */
const turnMs = 500;

export function createEngine(options: EngineOptions): LogEngine {
  const { childrenMax = 4, atOnce = 2, idleMs = 60_000, queueMax = 1000, memoryMb = 512, residentMb = 1536 } = options;
  const lanes = new Map<string, EngineLane>();
  const inspections = new Map<string, Inspection>();
  let closed = false;
  let turn: NodeJS.Timeout | undefined;
  const sweep = setInterval(() => endIdle(performance.now() - idleMs), Math.min(idleMs, 5000)).unref();

  const liveCount = (): number => [...lanes.values()].reduce((sum, lane) => sum + lane.live(), 0);

  function laneOf(organization: string): EngineLane {
    const existing = lanes.get(organization);
    if (existing) return existing;
    const lane = createLane({ directory: options.directoryOf(organization), memoryMb, residentMb }, atOnce, pump);
    lanes.set(organization, lane);
    return lane;
  }

  function endIdle(before: number): void {
    for (const [organization, lane] of lanes) {
      const since = lane.idleSince();
      if (since !== undefined && since < before) lane.retire();
      if (lane.live() === 0 && lane.queue.length === 0) lanes.delete(organization);
    }
  }

  function makeRoom(): boolean {
    if (liveCount() < childrenMax) return true;
    const idle = [...lanes.values()].filter((lane) => lane.idleSince() !== undefined);
    // Its end is announced when it has come, and then there is room.
    if (idle.length > 0) idle.toSorted((a, b) => a.idleSince()! - b.idleSince()!)[0]!.retire();
    else takePlace();
    return false;
  }

  // Organizations that always have something to ask must not keep the others out: the engine that has served longest ends after what it does now.
  function takePlace(): void {
    const leaving = [...lanes.values()].some((lane) => lane.live() > (lane.hasEngine() ? 1 : 0));
    if (leaving) return;
    const [longest] = [...lanes].toSorted((a, b) => a[1].startedAt() - b[1].startedAt());
    if (!longest) return;
    const waitMs = longest[1].startedAt() + turnMs - performance.now();
    if (waitMs > 0) {
      turn ??= setTimeout(() => {
        turn = undefined;
        pump();
      }, waitMs).unref();
      return;
    }
    longest[1].retire();
    lanes.delete(longest[0]);
    lanes.set(longest[0], longest[1]);
  }

  function pump(): void {
    if (closed) return;
    const turns = [...lanes.values()];
    for (const lane of turns) while (lane.canStart() && (lane.hasEngine() || makeRoom())) lane.start();
  }

  function submit(organization: string, input: EngineTaskInput): Promise<EngineResult> {
    if (closed || input.signal?.aborted) return Promise.reject(cancelledError());
    const lane = laneOf(organization);
    if (lane.queue.length >= queueMax) return Promise.reject(engineError('Too many queries are waiting.'));
    const { task, answer } = createTask(input, (stopped) => lane.stop(stopped, cancelledError()));
    lane.queue.push(task);
    pump();
    return answer;
  }

  return {
    live: liveCount,
    async inspect(organization, sql, run = { timeoutMs: 5000 }) {
      const known = inspections.get(sql);
      if (known) return known;
      const { inspection } = await submit(organization, { ...run, message: (id) => ({ kind: 'inspect', id, sql }) });
      if (!inspection) throw engineError('The query engine gave no answer.');
      if (inspections.size >= inspectionsMax) inspections.delete(inspections.keys().next().value!);
      inspections.set(sql, inspection);
      return inspection;
    },
    async query(organization, job, run) {
      const { rows, end } = await submit(organization, { ...run, message: (id) => ({ kind: 'query', id, job }) });
      return { rows, ...end };
    },
    async maintain(organization, job, run) {
      await submit(organization, { ...run, message: (id) => ({ kind: 'maintain', id, job }) });
    },
    async close() {
      closed = true;
      clearInterval(sweep);
      clearTimeout(turn);
      for (const lane of lanes.values()) lane.close();
      while (liveCount() > 0) await new Promise((resolve) => setTimeout(resolve, 5));
    },
  };
}
