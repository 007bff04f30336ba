import { Worker, type TransferListItem } from 'node:worker_threads';
import {
  ThreadError,
  fromOutcomeError,
  toOutcome,
  type FromThread,
  type Outcome,
  type ToThread,
} from './thread-protocol.ts';

export type AnswerCall = (request: unknown) => Promise<unknown>;

export type ThreadOptions = {
  /** A module that calls `serveTasks` of thread-worker.ts. */
  file: URL;
  workerData?: unknown;
  threadsMax: number;
  memoryMb: number;
};

/** The jobs and threads of a pool. */
export type PoolState<Task, Result> = {
  options: ThreadOptions;
  tasksPerThread: number;
  runningPerOwnerMax: number;
  threads: Set<PoolThread<Task, Result>>;
  waiting: FairQueue<Job<Task, Result>>;
  runningByOwner: Map<string, number>;
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

/** Starts waiting jobs as far as threads are free or can be started. */
export function startWaiting<Task, Result>(pool: PoolState<Task, Result>): void {
  while (hasRoom(pool)) {
    const job = pool.waiting.take((owner) => mayRun(pool, owner));
    if (!job) return;
    startJob(pool, findThread(pool)!, job);
  }
}

/** Rejects a job that waits or runs. A thread that runs nothing else is terminated, so that the task ends. */
export function stopJob<Task, Result>(pool: PoolState<Task, Result>, job: Job<Task, Result>): void {
  const stopped = new ThreadError('stopped', 'the task was stopped');
  const thread = [...pool.threads].find(({ jobs }) => jobs.has(job.id));
  if (thread && pool.tasksPerThread === 1) terminate(pool, thread, stopped);
  else pool.waiting.remove(job.owner, job);
  job.reject(stopped);
}

/** Terminates a thread and rejects its jobs. */
export function terminate<Task, Result>(
  pool: PoolState<Task, Result>,
  thread: PoolThread<Task, Result>,
  error: ThreadError,
): void {
  for (const id of thread.jobs.keys()) endJob(pool, thread, id)!.reject(error);
  pool.threads.delete(thread);
  clearTimeout(thread.startTimer);
  void thread.worker.terminate();
  startWaiting(pool);
}

const hasRoom = <Task, Result>({ threads, options, tasksPerThread }: PoolState<Task, Result>): boolean =>
  threads.size < options.threadsMax || [...threads].some(({ jobs }) => jobs.size < tasksPerThread);

const mayRun = <Task, Result>({ runningByOwner, runningPerOwnerMax }: PoolState<Task, Result>, owner: string) =>
  (runningByOwner.get(owner) ?? 0) < runningPerOwnerMax;

/** Returns an idle thread, a new one, or, if there are as many as allowed, the one with the fewest tasks. */
function findThread<Task, Result>(pool: PoolState<Task, Result>): PoolThread<Task, Result> | undefined {
  const { threads, options, tasksPerThread } = pool;
  const [least] = [...threads].toSorted((a, b) => a.jobs.size - b.jobs.size);
  if (least && (least.jobs.size === 0 || threads.size >= options.threadsMax))
    return least.jobs.size < tasksPerThread ? least : undefined;
  return startThread(pool);
}

function startThread<Task, Result>(pool: PoolState<Task, Result>): PoolThread<Task, Result> {
  const { file, workerData, memoryMb } = pool.options;
  const worker = new Worker(file, { workerData, resourceLimits: { maxOldGenerationSizeMb: memoryMb } });
  const thread: PoolThread<Task, Result> = { worker, jobs: new Map() };
  const end = (reason: ThreadError['reason'], message: string): void =>
    terminate(pool, thread, new ThreadError(reason, message));
  thread.startTimer = setTimeout(() => {
    end('stopped', `the thread took longer than ${startMaxMs / 1000} seconds to start`);
  }, startMaxMs);
  worker.on('message', (message: FromThread) => receive(pool, thread, message));
  worker.on('error', (error) => end('crashed', `the thread died: ${String(error)}`));
  worker.on('exit', () => pool.threads.has(thread) && end('crashed', 'the thread ended'));
  pool.threads.add(thread);
  return thread;
}

function receive<Task, Result>(
  pool: PoolState<Task, Result>,
  thread: PoolThread<Task, Result>,
  message: FromThread,
): void {
  if ('isReady' in message) return startTimers(pool, thread);
  if ('call' in message) return void answerCall(pool, thread, message);
  const job = endJob(pool, thread, message.id);
  if ('error' in message) job?.reject(fromOutcomeError(message.error));
  else job?.resolve(message.result as Result);
  startWaiting(pool);
}

/** Limits the time of the jobs that a thread received while it started. */
function startTimers<Task, Result>(pool: PoolState<Task, Result>, thread: PoolThread<Task, Result>): void {
  clearTimeout(thread.startTimer);
  thread.startTimer = undefined;
  for (const job of thread.jobs.values()) job.timer = startTimer(pool, thread, job);
}

const startTimer = <Task, Result>(
  pool: PoolState<Task, Result>,
  thread: PoolThread<Task, Result>,
  { timeoutMs }: Job<Task, Result>,
): NodeJS.Timeout =>
  setTimeout(() => {
    terminate(pool, thread, new ThreadError('timeout', `the task took longer than ${timeoutMs / 1000} seconds`));
  }, timeoutMs);

/** Sends a job the response to its call, and restarts the time limit of the job. */
async function answerCall<Task, Result>(
  pool: PoolState<Task, Result>,
  thread: PoolThread<Task, Result>,
  { id, call, request }: ThreadCall,
): Promise<void> {
  const { answerCall: answer } = thread.jobs.get(id) ?? {};
  const outcome: Outcome = await toOutcome(() => answer?.(request));
  const job = thread.jobs.get(id);
  if (!job) return;
  clearTimeout(job.timer);
  job.timer = startTimer(pool, thread, job);
  post(thread, { id, call, ...outcome });
}

function startJob<Task, Result>(
  pool: PoolState<Task, Result>,
  thread: PoolThread<Task, Result>,
  job: Job<Task, Result>,
): void {
  thread.jobs.set(job.id, thread.startTimer ? job : { ...job, timer: startTimer(pool, thread, job) });
  pool.runningByOwner.set(job.owner, (pool.runningByOwner.get(job.owner) ?? 0) + 1);
  thread.worker.ref();
  post(thread, { id: job.id, task: job.task, isLarge: job.isLarge }, job.transfer);
}

/** Takes a job from its thread. Undefined if the thread no longer has it. */
function endJob<Task, Result>(
  { runningByOwner }: PoolState<Task, Result>,
  thread: PoolThread<Task, Result>,
  id: number,
): RunningJob<Task, Result> | undefined {
  const job = thread.jobs.get(id);
  if (!job) return undefined;
  clearTimeout(job.timer);
  thread.jobs.delete(id);
  runningByOwner.set(job.owner, runningByOwner.get(job.owner)! - 1);
  if (runningByOwner.get(job.owner) === 0) runningByOwner.delete(job.owner);
  // An idle thread must not keep the process alive.
  if (thread.jobs.size === 0) thread.worker.unref();
  return job;
}

const post = <Task, Result>(
  { worker }: PoolThread<Task, Result>,
  message: ToThread,
  transfer: TransferListItem[] = [],
): void => worker.postMessage(message, transfer);

/**
 * Jobs that wait, each with the key of its owner. Owners take turns, so that one with many jobs does not delay the others: the next job is the
 * oldest of the owner that was served longest ago.
 */
type FairQueue<Job> = {
  size: () => number;
  /** Returns the number of jobs of one owner. */
  sizeOf: (key: string) => number;
  push: (key: string, job: Job) => void;
  /** Removes and returns the next job of an owner that may run one. */
  take: (mayRun: (key: string) => boolean) => Job | undefined;
  remove: (key: string, job: Job) => boolean;
  /** Removes and returns all jobs. */
  drain: () => Job[];
};

export function createFairQueue<Job>(): FairQueue<Job> {
  // In the order in which the owners are served.
  const jobsByKey = new Map<string, Job[]>();
  let size = 0;
  return {
    size: () => size,
    sizeOf: (key) => jobsByKey.get(key)?.length ?? 0,
    push(key, job) {
      const jobs = jobsByKey.get(key);
      if (jobs) jobs.push(job);
      else jobsByKey.set(key, [job]);
      size += 1;
    },
    take(mayRun) {
      for (const [key, jobs] of jobsByKey) {
        if (!mayRun(key)) continue;
        const job = jobs.shift()!;
        jobsByKey.delete(key);
        if (jobs.length > 0) jobsByKey.set(key, jobs);
        size -= 1;
        return job;
      }
      return undefined;
    },
    remove(key, job) {
      const jobs = jobsByKey.get(key) ?? [];
      const index = jobs.indexOf(job);
      if (index < 0) return false;
      jobs.splice(index, 1);
      if (jobs.length === 0) jobsByKey.delete(key);
      size -= 1;
      return true;
    },
    drain() {
      const all = [...jobsByKey.values()].flat();
      jobsByKey.clear();
      size = 0;
      return all;
    },
  };
}
