import type { TransferListItem } from 'node:worker_threads';
import {
  createFairQueue,
  startWaiting,
  stopJob,
  terminate,
  type AnswerCall,
  type PoolState,
  type ThreadOptions,
} from './pool-threads.ts';
import { ThreadError } from './thread-protocol.ts';

/** Runs long computations in worker threads, off the event loop. */
export type ThreadPool<Task, Result> = {
  /** Rejects with a ThreadError, or with an Error that has the message the task threw; an `AppError` and an `ExternalError` stay what they are. */
  run: (task: Task, options: RunOptions) => Promise<Result>;
  /** Terminates the threads and rejects all running and waiting tasks. */
  close: () => Promise<void>;
};

export type RunOptions = {
  /** Counts from the task's start in a thread that is ready, or from its last call to the owner. */
  timeoutMs: number;
  signal?: AbortSignal | undefined;
  /** The owner of the task. Owners take turns. */
  owner?: string;
  transfer?: TransferListItem[];
  /** Handles the calls of the task to this process. Default: the pool's `answerCall`. */
  answerCall?: AnswerCall;
  /** Set for a task that needs much memory. Its thread collects garbage afterwards, because an idle thread would keep the memory. */
  isLarge?: boolean;
};

export type ThreadPoolOptions = ThreadOptions & {
  /** Tasks that one thread interleaves. They end together if one of them times out or crashes the thread. Default 1. */
  tasksPerThread?: number;
  /** Tasks of one owner that run at the same time. Default: no limit. */
  runningPerOwnerMax?: number;
  /** The number of tasks of one owner that may wait for a thread, so that none takes the places of the others. */
  waitingMax: number;
  /** Handles the calls of tasks to this process. */
  answerCall?: AnswerCall;
};

/** Owners that may have as many waiting tasks as one may. */
const ownersMax = 50;

/** Starts threads on demand, up to `threadsMax`, and keeps them. A thread whose task times out or that dies is terminated and replaced. */
export function createThreadPool<Task, Result>(settings: ThreadPoolOptions): ThreadPool<Task, Result> {
  const pool: PoolState<Task, Result> = {
    options: settings,
    tasksPerThread: settings.tasksPerThread ?? 1,
    runningPerOwnerMax: settings.runningPerOwnerMax ?? Infinity,
    threads: new Set(),
    waiting: createFairQueue(),
    runningByOwner: new Map(),
  };
  const { waiting } = pool;
  let lastId = 0;
  let isClosed = false;
  return {
    async run(task, { timeoutMs, signal, owner = '', transfer = [], isLarge = false, answerCall }) {
      if (isClosed || signal?.aborted) throw new ThreadError('stopped', 'the task was stopped');
      if (waiting.sizeOf(owner) >= settings.waitingMax || waiting.size() >= settings.waitingMax * ownersMax)
        throw new ThreadError('full', 'too many tasks are waiting already');
      const { promise, resolve, reject } = Promise.withResolvers<Result>();
      lastId += 1;
      const answer = answerCall ?? settings.answerCall;
      const job = { id: lastId, owner, task, transfer, timeoutMs, isLarge, answerCall: answer, resolve, reject };
      const stop = (): void => stopJob(pool, job);
      signal?.addEventListener('abort', stop, { once: true });
      waiting.push(owner, job);
      startWaiting(pool);
      return promise.finally(() => signal?.removeEventListener('abort', stop));
    },
    async close() {
      isClosed = true;
      const stopped = new ThreadError('stopped', 'the threads are closed');
      for (const job of waiting.drain()) job.reject(stopped);
      const running = [...pool.threads];
      for (const thread of running) terminate(pool, thread, stopped);
      await Promise.all(running.map(({ worker }) => worker.terminate()));
    },
  };
}
