import { Worker } from 'node:worker_threads';

/** Work for threads of their own, so that a long computation holds up nothing else. */
export type Threads<Task, Result> = {
  /** Rejects with a ThreadError, or with an Error whose message is what the task itself threw. `timeoutMs` counts from the task's start. */
  run: (task: Task, options: { timeoutMs: number; signal?: AbortSignal | undefined }) => Promise<Result>;
  /** Ends the threads; what waits or runs is rejected. */
  close: () => Promise<void>;
};

/** `full`: too much waits already. `timeout`, `crashed`: the task's own doing. `stopped`: by the caller's signal or by `close`. */
export class ThreadError extends Error {
  readonly reason: 'full' | 'timeout' | 'crashed' | 'stopped';
  constructor(reason: ThreadError['reason'], message: string) {
    super(message);
    this.reason = reason;
  }
}

/** Nothing is wrong with the task: its turn did not come. */
export const isBusy = (error: unknown): boolean =>
  error instanceof ThreadError && (error.reason === 'full' || error.reason === 'stopped');

export type ThreadSettings = {
  /** A module that calls `answerTasks` of lib/thread.ts. */
  file: URL;
  workerData?: unknown;
  threadsMax: number;
  /** Tasks that may wait for a thread. */
  waitingMax: number;
  memoryMb: number;
};

type Job<Task, Result> = {
  task: Task;
  timeoutMs: number;
  resolve: (result: Result) => void;
  reject: (error: Error) => void;
};
type Lane<Task, Result> = { worker: Worker; job: Job<Task, Result> | undefined; timer: NodeJS.Timeout | undefined };
export type Answer = { result: unknown } | { error: string };

/** Starts threads as they are needed, up to a number, and keeps them. One that takes too long or dies is ended and replaced. */
export function createThreads<Task, Result>(settings: ThreadSettings): Threads<Task, Result> {
  const lanes = new Set<Lane<Task, Result>>();
  const waiting: Job<Task, Result>[] = [];
  let closed = false;

  const settle = (lane: Lane<Task, Result>, end: (job: Job<Task, Result>) => void): void => {
    clearTimeout(lane.timer);
    const { job } = lane;
    lane.job = undefined;
    // A thread with nothing to do keeps no process alive.
    lane.worker.unref();
    if (job) end(job);
  };
  const drop = (lane: Lane<Task, Result>, error: ThreadError): void => {
    lanes.delete(lane);
    settle(lane, (job) => job.reject(error));
    void lane.worker.terminate();
    next();
  };
  const open = (): Lane<Task, Result> => {
    const worker = new Worker(settings.file, {
      workerData: settings.workerData,
      resourceLimits: { maxOldGenerationSizeMb: settings.memoryMb },
    });
    const lane: Lane<Task, Result> = { worker, job: undefined, timer: undefined };
    worker.on('message', (answer: Answer) => {
      settle(lane, (job) =>
        'error' in answer ? job.reject(new Error(answer.error)) : job.resolve(answer.result as Result),
      );
      next();
    });
    worker.on('error', (error) => drop(lane, new ThreadError('crashed', `the thread died: ${String(error)}`)));
    worker.on('exit', () => lanes.has(lane) && drop(lane, new ThreadError('crashed', 'the thread ended')));
    lanes.add(lane);
    return lane;
  };
  const next = (): void => {
    while (waiting.length > 0) {
      const lane = [...lanes].find(({ job }) => !job) ?? (lanes.size < settings.threadsMax ? open() : undefined);
      if (!lane) return;
      const job = waiting.shift()!;
      lane.job = job;
      lane.worker.ref();
      const late = new ThreadError('timeout', `it took longer than ${job.timeoutMs / 1000} seconds`);
      lane.timer = setTimeout(() => drop(lane, late), job.timeoutMs);
      lane.worker.postMessage(job.task);
    }
  };
  return {
    async run(task, { timeoutMs, signal }) {
      if (closed || signal?.aborted) throw new ThreadError('stopped', 'it was stopped');
      if (waiting.length >= settings.waitingMax) throw new ThreadError('full', 'too much waits already');
      const { promise, resolve, reject } = Promise.withResolvers<Result>();
      const job: Job<Task, Result> = { task, timeoutMs, resolve, reject };
      const stop = (): void => {
        const stopped = new ThreadError('stopped', 'it was stopped');
        const lane = [...lanes].find((one) => one.job === job);
        if (lane) drop(lane, stopped);
        else if (waiting.includes(job)) waiting.splice(waiting.indexOf(job), 1);
        reject(stopped);
      };
      signal?.addEventListener('abort', stop, { once: true });
      waiting.push(job);
      next();
      return promise.finally(() => signal?.removeEventListener('abort', stop));
    },
    async close() {
      closed = true;
      const stopped = new ThreadError('stopped', 'the threads are closed');
      for (const job of waiting.splice(0)) job.reject(stopped);
      const ended = [...lanes];
      for (const lane of ended) drop(lane, stopped);
      await Promise.all(ended.map(({ worker }) => worker.terminate()));
    },
  };
}
