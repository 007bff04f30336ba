import type { SiemError } from '../../siem/connector.ts';
import type { Inspection } from './inspect-tree.ts';
import type { QueryEnd, ToChild } from './protocol.ts';

export type EngineResult = { rows: Record<string, unknown>[]; end: QueryEnd; inspection: Inspection | undefined };

/** One request to an engine, from its queue to its answer. Times in milliseconds. */
export type EngineTask = {
  id: number;
  message: ToChild;
  timeoutMs: number;
  rows: Record<string, unknown>[];
  tries: number;
  /** It was running when an engine died for a reason unknown: it is tried again with no other beside it. */
  alone: boolean;
  /** Why it was stopped, once it was; then nothing else is its answer. */
  stopped: SiemError | undefined;
  timers: NodeJS.Timeout[];
  settle: (answer: EngineResult | SiemError) => void;
};

export type EngineTaskInput = { message: (id: number) => ToChild; timeoutMs: number; signal?: AbortSignal };

let lastId = 0;

/** A task and the promise of its answer. `onAbort` is called when the caller gives up before there is one. */
export function createTask(
  input: EngineTaskInput,
  onAbort: (task: EngineTask) => void,
): { task: EngineTask; answer: Promise<EngineResult> } {
  const id = ++lastId;
  const { promise, resolve, reject } = Promise.withResolvers<EngineResult>();
  const abort = (): void => onAbort(task);
  const task: EngineTask = {
    id,
    message: input.message(id),
    timeoutMs: input.timeoutMs,
    rows: [],
    tries: 0,
    alone: false,
    stopped: undefined,
    timers: [],
    settle: (answer) => {
      input.signal?.removeEventListener('abort', abort);
      clearTimers(task);
      if (answer instanceof Error) reject(answer);
      else resolve(answer);
    },
  };
  input.signal?.addEventListener('abort', abort, { once: true });
  return { task, answer: promise };
}

export function clearTimers(task: EngineTask): void {
  for (const timer of task.timers) clearTimeout(timer);
  task.timers = [];
}
