import { Worker } from 'node:worker_threads';

/** Runs long computations in worker threads, off the event loop. */
export type ThreadPool<Task, Result> = {
  /** Rejects with a ThreadError, or with an Error that has the message the task threw. `timeoutMs` counts from the task's start. */
  run: (task: Task, options: { timeoutMs: number; signal?: AbortSignal | undefined }) => Promise<Result>;
  /** Terminates the threads and rejects all running and waiting tasks. */
  close: () => Promise<void>;
};

/** `full`: too many tasks are waiting. `timeout`, `crashed`: caused by the task. `stopped`: by the caller's signal or by `close`. */
export class ThreadError extends Error {
  readonly reason: 'full' | 'timeout' | 'crashed' | 'stopped';
  constructor(reason: ThreadError['reason'], message: string) {
    super(message);
    this.reason = reason;
  }
}

/** Reports whether a task failed only because the pool was full or stopped. */
export const isPoolBusy = (error: unknown): boolean =>
  error instanceof ThreadError && (error.reason === 'full' || error.reason === 'stopped');

export type ThreadPoolOptions = {
  /** A module that calls `serveTasks` of thread-worker.ts. */
  file: URL;
  workerData?: unknown;
  threadsMax: number;
  /** The number of tasks that may wait for a thread. */
  waitingMax: number;
  memoryMb: number;
};

type Job<Task, Result> = {
  task: Task;
  timeoutMs: number;
  resolve: (result: Result) => void;
  reject: (error: Error) => void;
};
type PoolThread<Task, Result> = {
  worker: Worker;
  job: Job<Task, Result> | undefined;
  timer: NodeJS.Timeout | undefined;
};
export type TaskReply = { result: unknown } | { error: string };

/** Starts threads on demand, up to `threadsMax`, and keeps them. A thread whose task times out or that dies is terminated and replaced. */
export function createThreadPool<Task, Result>(settings: ThreadPoolOptions): ThreadPool<Task, Result> {
  const threads = new Set<PoolThread<Task, Result>>();
  const waiting: Job<Task, Result>[] = [];
  let closed = false;

  const finishJob = (thread: PoolThread<Task, Result>, finish: (job: Job<Task, Result>) => void): void => {
    clearTimeout(thread.timer);
    const { job } = thread;
    thread.job = undefined;
    // An idle thread must not keep the process alive.
    thread.worker.unref();
    if (job) finish(job);
  };
  const terminate = (thread: PoolThread<Task, Result>, error: ThreadError): void => {
    threads.delete(thread);
    finishJob(thread, (job) => job.reject(error));
    void thread.worker.terminate();
    startWaiting();
  };
  const startThread = (): PoolThread<Task, Result> => {
    const worker = new Worker(settings.file, {
      workerData: settings.workerData,
      resourceLimits: { maxOldGenerationSizeMb: settings.memoryMb },
    });
    const thread: PoolThread<Task, Result> = { worker, job: undefined, timer: undefined };
    worker.on('message', (reply: TaskReply) => {
      finishJob(thread, (job) =>
        'error' in reply ? job.reject(new Error(reply.error)) : job.resolve(reply.result as Result),
      );
      startWaiting();
    });
    worker.on('error', (error) => terminate(thread, new ThreadError('crashed', `the thread died: ${String(error)}`)));
    worker.on('exit', () => threads.has(thread) && terminate(thread, new ThreadError('crashed', 'the thread ended')));
    threads.add(thread);
    return thread;
  };
  const startWaiting = (): void => {
    while (waiting.length > 0) {
      const thread =
        [...threads].find(({ job }) => !job) ?? (threads.size < settings.threadsMax ? startThread() : undefined);
      if (!thread) return;
      const job = waiting.shift()!;
      thread.job = job;
      thread.worker.ref();
      const timeout = new ThreadError('timeout', `the task took longer than ${job.timeoutMs / 1000} seconds`);
      thread.timer = setTimeout(() => terminate(thread, timeout), job.timeoutMs);
      thread.worker.postMessage(job.task);
    }
  };
  return {
    async run(task, { timeoutMs, signal }) {
      if (closed || signal?.aborted) throw new ThreadError('stopped', 'the task was stopped');
      if (waiting.length >= settings.waitingMax) throw new ThreadError('full', 'too many tasks are waiting already');
      const { promise, resolve, reject } = Promise.withResolvers<Result>();
      const job: Job<Task, Result> = { task, timeoutMs, resolve, reject };
      const stop = (): void => {
        const stopped = new ThreadError('stopped', 'the task was stopped');
        const thread = [...threads].find((candidate) => candidate.job === job);
        if (thread) terminate(thread, stopped);
        else if (waiting.includes(job)) waiting.splice(waiting.indexOf(job), 1);
        reject(stopped);
      };
      signal?.addEventListener('abort', stop, { once: true });
      waiting.push(job);
      startWaiting();
      return promise.finally(() => signal?.removeEventListener('abort', stop));
    },
    async close() {
      closed = true;
      const stopped = new ThreadError('stopped', 'the threads are closed');
      for (const job of waiting.splice(0)) job.reject(stopped);
      const running = [...threads];
      for (const thread of running) terminate(thread, stopped);
      await Promise.all(running.map(({ worker }) => worker.terminate()));
    },
  };
}
