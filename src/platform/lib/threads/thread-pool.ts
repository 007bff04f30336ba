import { Worker, type TransferListItem } from 'node:worker_threads';
import { createFairQueue } from './fair-queue.ts';
import { ThreadError } from './thread-error.ts';
import { fromOutcomeError, toOutcome, type FromThread, type Outcome, type ToThread } from './thread-protocol.ts';

/** Runs long computations in worker threads, off the event loop. */
export type ThreadPool<Task, Result> = {
  /** Rejects with a ThreadError, or with an Error that has the message the task threw; an `AppError` stays one. */
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

type AnswerCall = (request: unknown) => Promise<unknown>;

export type ThreadPoolOptions = {
  /** A module that calls `serveTasks` of thread-worker.ts. */
  file: URL;
  workerData?: unknown;
  threadsMax: number;
  /** Tasks that one thread interleaves. They end together if one of them times out or crashes the thread. Default 1. */
  tasksPerThread?: number;
  /** Tasks of one owner that run at the same time. Default: no limit. */
  runningPerOwnerMax?: number;
  /** The number of tasks of one owner that may wait for a thread, so that none takes the places of the others. */
  waitingMax: number;
  memoryMb: number;
  /** Handles the calls of tasks to this process. */
  answerCall?: AnswerCall;
};

type Job<Task, Result> = {
  id: number;
  owner: string;
  task: Task;
  transfer: TransferListItem[];
  timeoutMs: number;
  isLarge: boolean;
  answerCall: AnswerCall | undefined;
  resolve: (result: Result) => void;
  reject: (error: Error) => void;
};
/** `timer` is missing while the thread of the job starts. */
type RunningJob<Task, Result> = Job<Task, Result> & { timer?: NodeJS.Timeout };
type ThreadCall = Extract<FromThread, { call: number }>;
/** `startTimer` is set until the thread is ready. */
type PoolThread<Task, Result> = {
  worker: Worker;
  jobs: Map<number, RunningJob<Task, Result>>;
  startTimer?: NodeJS.Timeout | undefined;
};

/** The time that a thread may take to load its modules, which a busy machine makes long. */
const startMaxMs = 120_000;

/** Owners that may have as many waiting tasks as one may. */
const ownersMax = 50;

/** Starts threads on demand, up to `threadsMax`, and keeps them. A thread whose task times out or that dies is terminated and replaced. */
export function createThreadPool<Task, Result>(settings: ThreadPoolOptions): ThreadPool<Task, Result> {
  const { tasksPerThread = 1, runningPerOwnerMax = Infinity } = settings;
  type Thread = PoolThread<Task, Result>;
  const threads = new Set<Thread>();
  const waiting = createFairQueue<Job<Task, Result>>();
  const runningByOwner = new Map<string, number>();
  let lastId = 0;
  let closed = false;

  const post = (thread: Thread, message: ToThread, transfer: TransferListItem[] = []): void =>
    thread.worker.postMessage(message, transfer);
  const endJob = (thread: Thread, id: number): RunningJob<Task, Result> | undefined => {
    const job = thread.jobs.get(id);
    if (!job) return undefined;
    clearTimeout(job.timer);
    thread.jobs.delete(id);
    runningByOwner.set(job.owner, runningByOwner.get(job.owner)! - 1);
    if (runningByOwner.get(job.owner) === 0) runningByOwner.delete(job.owner);
    // An idle thread must not keep the process alive.
    if (thread.jobs.size === 0) thread.worker.unref();
    return job;
  };
  const terminate = (thread: Thread, error: ThreadError): void => {
    for (const id of thread.jobs.keys()) endJob(thread, id)!.reject(error);
    threads.delete(thread);
    clearTimeout(thread.startTimer);
    void thread.worker.terminate();
    startWaiting();
  };
  const startTimer = (thread: Thread, { timeoutMs }: { timeoutMs: number }): NodeJS.Timeout =>
    setTimeout(() => {
      terminate(thread, new ThreadError('timeout', `the task took longer than ${timeoutMs / 1000} seconds`));
    }, timeoutMs);
  const start = (thread: Thread): void => {
    clearTimeout(thread.startTimer);
    thread.startTimer = undefined;
    for (const job of thread.jobs.values()) job.timer = startTimer(thread, job);
  };
  const answerCall = async (thread: Thread, { id, call, request }: ThreadCall): Promise<void> => {
    const { answerCall: answer } = thread.jobs.get(id) ?? {};
    const outcome: Outcome = await toOutcome(() => answer?.(request));
    const job = thread.jobs.get(id);
    if (!job) return;
    clearTimeout(job.timer);
    job.timer = startTimer(thread, job);
    post(thread, { id, call, ...outcome });
  };
  const startThread = (): Thread => {
    const worker = new Worker(settings.file, {
      workerData: settings.workerData,
      resourceLimits: { maxOldGenerationSizeMb: settings.memoryMb },
    });
    const thread: Thread = { worker, jobs: new Map() };
    thread.startTimer = setTimeout(() => {
      terminate(
        thread,
        new ThreadError('stopped', `the thread took longer than ${startMaxMs / 1000} seconds to start`),
      );
    }, startMaxMs);
    worker.on('message', (message: FromThread) => {
      if ('isReady' in message) return start(thread);
      if ('call' in message) return void answerCall(thread, message);
      const job = endJob(thread, message.id);
      if ('error' in message) job?.reject(fromOutcomeError(message.error));
      else job?.resolve(message.result as Result);
      startWaiting();
    });
    worker.on('error', (error) => terminate(thread, new ThreadError('crashed', `the thread died: ${String(error)}`)));
    worker.on('exit', () => threads.has(thread) && terminate(thread, new ThreadError('crashed', 'the thread ended')));
    threads.add(thread);
    return thread;
  };
  const findThread = (): Thread | undefined => {
    const [least] = [...threads].toSorted((a, b) => a.jobs.size - b.jobs.size);
    if (least && (least.jobs.size === 0 || threads.size >= settings.threadsMax))
      return least.jobs.size < tasksPerThread ? least : undefined;
    return startThread();
  };
  const mayRun = (owner: string): boolean => (runningByOwner.get(owner) ?? 0) < runningPerOwnerMax;
  const hasRoom = (): boolean =>
    threads.size < settings.threadsMax || [...threads].some(({ jobs }) => jobs.size < tasksPerThread);
  const startWaiting = (): void => {
    while (hasRoom()) {
      const job = waiting.take(mayRun);
      if (!job) return;
      const thread = findThread()!;
      thread.jobs.set(job.id, thread.startTimer ? job : { ...job, timer: startTimer(thread, job) });
      runningByOwner.set(job.owner, (runningByOwner.get(job.owner) ?? 0) + 1);
      thread.worker.ref();
      post(thread, { id: job.id, task: job.task, isLarge: job.isLarge }, job.transfer);
    }
  };
  const stopJob = (job: Job<Task, Result>): void => {
    const stopped = new ThreadError('stopped', 'the task was stopped');
    const thread = [...threads].find(({ jobs }) => jobs.has(job.id));
    if (thread && tasksPerThread === 1) terminate(thread, stopped);
    else waiting.remove(job.owner, job);
    job.reject(stopped);
  };
  return {
    async run(task, { timeoutMs, signal, owner = '', transfer = [], isLarge = false, answerCall }) {
      if (closed || signal?.aborted) throw new ThreadError('stopped', 'the task was stopped');
      if (waiting.sizeOf(owner) >= settings.waitingMax || waiting.size() >= settings.waitingMax * ownersMax)
        throw new ThreadError('full', 'too many tasks are waiting already');
      const { promise, resolve, reject } = Promise.withResolvers<Result>();
      lastId += 1;
      const answer = answerCall ?? settings.answerCall;
      const job = { id: lastId, owner, task, transfer, timeoutMs, isLarge, answerCall: answer, resolve, reject };
      const stop = (): void => stopJob(job);
      signal?.addEventListener('abort', stop, { once: true });
      waiting.push(owner, job);
      startWaiting();
      return promise.finally(() => signal?.removeEventListener('abort', stop));
    },
    async close() {
      closed = true;
      const stopped = new ThreadError('stopped', 'the threads are closed');
      for (const job of waiting.drain()) job.reject(stopped);
      const running = [...threads];
      for (const thread of running) terminate(thread, stopped);
      await Promise.all(running.map(({ worker }) => worker.terminate()));
    },
  };
}
