import type { SiemError } from '../../siem/connector.ts';
import type { Inspection } from '../inspection/inspection.ts';
import type { QueryEnd, ToChild } from '../queries/protocol.ts';

export type EngineResult = { rows: Record<string, unknown>[]; end: QueryEnd; inspection: Inspection | undefined };

/** One request to an engine, from queueing to its result. Times are in milliseconds. */
export type EngineTask = {
  id: number;
  message: ToChild;
  timeoutMs: number;
  rows: Record<string, unknown>[];
  tries: number;
  /** An engine process died or ran out of memory, perhaps because of another task. The task is retried in a new process that it has for itself. */
  runsAlone: boolean;
  /** Why the task was stopped. Once set, the task fails with this error, whatever the engine returns. */
  stopReason: SiemError | undefined;
  timers: NodeJS.Timeout[];
  settle: (outcome: EngineResult | SiemError) => void;
};

export type EngineTaskInput = { message: (id: number) => ToChild; timeoutMs: number; signal?: AbortSignal };

/** Creates a task and the promise of its result. Calls `onAbort` if the signal aborts before the task is settled. */
export function createTask(
  id: number,
  input: EngineTaskInput,
  onAbort: (task: EngineTask) => void,
): { task: EngineTask; result: Promise<EngineResult> } {
  const { promise, resolve, reject } = Promise.withResolvers<EngineResult>();
  const abort = (): void => onAbort(task);
  const task: EngineTask = {
    id,
    message: input.message(id),
    timeoutMs: input.timeoutMs,
    rows: [],
    tries: 0,
    runsAlone: false,
    stopReason: undefined,
    timers: [],
    settle: (outcome) => {
      input.signal?.removeEventListener('abort', abort);
      clearTimers(task);
      if (outcome instanceof Error) reject(outcome);
      else resolve(outcome);
    },
  };
  input.signal?.addEventListener('abort', abort, { once: true });
  return { task, result: promise };
}

export function clearTimers(task: EngineTask): void {
  for (const timer of task.timers) clearTimeout(timer);
  task.timers = [];
}
