import { fork, type ChildProcess } from 'node:child_process';
import { cancelledError, engineError, memoryError, timeoutError } from '../engine-failures.ts';
import { clearTimers, type EngineTask } from './engine-task.ts';
import type { FromChild, OpenOptions, ToChild } from '../queries/protocol.ts';
import { SiemError } from '../../siem/connector.ts';
import { findCompileCache, siblingModule } from '../../../platform/lib/program-files.ts';

const triesMax = 3;
/** How long a process may take to open the engine, on a machine that has much else to do. */
const openMaxMs = 60_000;

/** A retired process gets no new tasks and is killed once its running tasks have finished. */
type EngineProcess = {
  child: EngineChild;
  running: Map<number, EngineTask>;
  /** How many tasks it has started, including those that have finished: their memory may not be free again. */
  started: number;
  isRetired: boolean;
  startedAt: number;
  /** Kills the process unless it is ready in time. Undefined once it is ready: only then do the time limits of its tasks begin. */
  openTimer: NodeJS.Timeout | undefined;
};

/** The waiting tasks of one organization and the engine processes that work on it. At most one process takes new tasks; the others are retired. */
export type EngineQueue = {
  waiting: EngineTask[];
  /** When the engine became idle, in monotonic milliseconds. Undefined if it is busy or not running. */
  idleSince: () => number | undefined;
  processCount: () => number;
  hasEngine: () => boolean;
  /** When the engine that takes new tasks was started, in monotonic milliseconds. Infinity without one. */
  startedAt: () => number;
  canStart: () => boolean;
  start: () => void;
  stop: (task: EngineTask, reason: SiemError) => void;
  /** Retires the engine that takes new tasks. */
  retire: () => void;
  /** Kills all processes. Queued and running tasks fail as cancelled. */
  close: () => void;
};

/** `concurrency`: tasks that a process may run at a time. `graceMs`: time until it is killed after the interrupt of a statement that does not end. */
type QueueLimits = { concurrency: number; graceMs: number };

type QueueState = {
  options: OpenOptions;
  limits: QueueLimits;
  onChange: () => void;
  waiting: EngineTask[];
  processes: Set<EngineProcess>;
  /** The process that takes new tasks. */
  current: EngineProcess | undefined;
  /** When a task last finished, in monotonic milliseconds. */
  usedAt: number;
};

/** Creates the queue of an organization, which runs its tasks within limits. Calls `onChange` whenever another task might be able to start. */
export function createEngineQueue(options: OpenOptions, limits: QueueLimits, onChange: () => void): EngineQueue {
  const queue: QueueState = {
    options,
    limits,
    onChange,
    waiting: [],
    processes: new Set(),
    current: undefined,
    usedAt: performance.now(),
  };
  return {
    waiting: queue.waiting,
    processCount: () => queue.processes.size,
    idleSince: () => (queue.current?.running.size === 0 && queue.waiting.length === 0 ? queue.usedAt : undefined),
    canStart: () => canStart(queue),
    start: () => startNext(queue),
    stop: (task, reason) => stopTask(queue, task, reason),
    hasEngine: () => queue.current !== undefined,
    startedAt: () => queue.current?.startedAt ?? Infinity,
    retire: () => retireCurrent(queue),
    close: () => closeQueue(queue),
  };
}

function openEngine(queue: QueueState): EngineProcess {
  if (queue.current) return queue.current;
  const engine: EngineProcess = {
    running: new Map(),
    started: 0,
    isRetired: false,
    startedAt: performance.now(),
    openTimer: setTimeout(() => engine.child.kill(), openMaxMs),
    child: startChild(queue.options, {
      onMessage: (message) => handleMessage(queue, engine, message),
      onEnd: (reason) => handleEnd(queue, engine, reason),
    }),
  };
  queue.processes.add(engine);
  queue.current = engine;
  return engine;
}

function canStart({ waiting, current, limits: { concurrency } }: QueueState): boolean {
  const next = waiting[0];
  if (!next) return false;
  const running = [...(current?.running.values() ?? [])];
  if (next.runsAlone) return running.length === 0;
  return running.length < concurrency && !running.some((task) => task.runsAlone);
}

function startNext(queue: QueueState): void {
  const task = queue.waiting.shift();
  if (!task) return;
  if (task.runsAlone) retireCurrent(queue);
  const engine = openEngine(queue);
  task.tries += 1;
  task.rows = [];
  engine.started += 1;
  engine.running.set(task.id, task);
  if (!engine.openTimer) limitTime(queue, engine, task);
  engine.child.send(task.message);
}

function limitTime(queue: QueueState, engine: EngineProcess, task: EngineTask): void {
  const stop = (): void => stopRunning(queue, engine, task, timeoutError(task.timeoutMs));
  task.timers.push(setTimeout(stop, task.timeoutMs));
}

function stopTask(queue: QueueState, task: EngineTask, reason: SiemError): void {
  const index = queue.waiting.indexOf(task);
  if (index >= 0) {
    queue.waiting.splice(index, 1);
    task.settle(reason);
    return;
  }
  for (const engine of queue.processes) if (engine.running.has(task.id)) stopRunning(queue, engine, task, reason);
}

function stopRunning(queue: QueueState, engine: EngineProcess, task: EngineTask, reason: SiemError): void {
  if (task.stopReason) return;
  task.stopReason = reason;
  retireProcess(queue, engine);
  engine.child.send({ kind: 'cancel', id: task.id });
  task.timers.push(setTimeout(() => engine.child.kill(), queue.limits.graceMs));
}

function handleMessage(queue: QueueState, engine: EngineProcess, message: FromChild): void {
  if (message.kind === 'ready') return handleReady(queue, engine);
  if (message.kind === 'memory-exceeded') return;
  const task = engine.running.get(message.id);
  if (!task) return;
  if ('rows' in message) task.rows = task.rows.length === 0 ? message.rows : task.rows.concat(message.rows);
  if (message.kind === 'rows') return;
  engine.running.delete(message.id);
  queue.usedAt = performance.now();
  if (message.kind === 'failed' && message.mustReplaceEngine) retireProcess(queue, engine);
  if (task.stopReason) task.settle(task.stopReason);
  else if (message.kind === 'failed' && message.failure.kind === 'query_memory' && !usedUpMemory(engine, task))
    repeatAlone(queue, task);
  else if (message.kind === 'failed') task.settle(new SiemError(message.failure));
  else {
    const end = message.kind === 'done' ? message.end : { total: 0, truncated: false, columns: [] };
    task.settle({ rows: task.rows, end, inspection: message.kind === 'inspected' ? message.inspection : undefined });
  }
  killIfFinished(engine);
  queue.onChange();
}

function handleReady(queue: QueueState, engine: EngineProcess): void {
  clearTimeout(engine.openTimer);
  engine.openTimer = undefined;
  for (const task of engine.running.values()) limitTime(queue, engine, task);
}

/** Settles or repeats the tasks of a process that has ended. */
function handleEnd(queue: QueueState, engine: EngineProcess, reason: ChildEnd): void {
  clearTimeout(engine.openTimer);
  queue.processes.delete(engine);
  retireProcess(queue, engine);
  const tasks = [...engine.running.values()];
  const wasStopped = tasks.some((task) => task.stopReason);
  for (const task of tasks.toReversed()) {
    const isCause = reason === 'memory' ? usedUpMemory(engine, task) : tasks.length === 1;
    clearTimers(task);
    if (task.stopReason) task.settle(task.stopReason);
    else if (task.tries >= triesMax || (isCause && !wasStopped)) task.settle(processError(reason));
    else if (wasStopped) queue.waiting.unshift(task);
    else repeatAlone(queue, task);
  }
  queue.onChange();
}

/** Returns whether the task itself used up the memory: no other task has used the process, or repeating it did not help. */
const usedUpMemory = (engine: EngineProcess, task: EngineTask): boolean =>
  engine.started === 1 || task.tries >= triesMax;

/** Queues a task as the next one, for a new process that runs nothing else. */
function repeatAlone(queue: QueueState, task: EngineTask): void {
  clearTimers(task);
  task.runsAlone = true;
  queue.waiting.unshift(task);
}

function retireProcess(queue: QueueState, engine: EngineProcess): void {
  engine.isRetired = true;
  if (queue.current === engine) queue.current = undefined;
}

function retireCurrent(queue: QueueState): void {
  const engine = queue.current;
  if (!engine) return;
  retireProcess(queue, engine);
  killIfFinished(engine);
}

function killIfFinished(engine: EngineProcess): void {
  if (engine.isRetired && engine.running.size === 0) engine.child.kill();
}

function closeQueue({ waiting, processes }: QueueState): void {
  for (const task of waiting.splice(0)) task.settle(cancelledError());
  for (const engine of processes) {
    for (const task of engine.running.values()) task.stopReason ??= cancelledError();
    engine.child.kill();
  }
}

function processError(reason: ChildEnd): SiemError {
  return reason === 'memory' ? memoryError() : engineError('The query engine ended unexpectedly and was restarted.');
}

/** Why an engine process ended: `memory` if it exceeded its resident memory limit, `crash` for any other reason. */
type ChildEnd = 'memory' | 'crash';

type EngineChild = { pid: number | undefined; send: (message: ToChild) => void; kill: () => void };

type ChildEvents = { onMessage: (message: FromChild) => void; onEnd: (reason: ChildEnd) => void };

/** Starts an engine process with no output and its own IPC channel. Its environment has nothing but the folder of compiled code. `onEnd` is called exactly once, however it ends. */
function startChild(options: OpenOptions, events: ChildEvents): EngineChild {
  const child: ChildProcess = fork(siblingModule('child', import.meta), [], {
    env: findCompileCache(),
    execArgv: ['--disable-warning=ExperimentalWarning', '--max-old-space-size=512'],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    cwd: '/',
  });
  let reason: ChildEnd = 'crash';
  let hasEnded = false;
  const end = (): void => {
    if (hasEnded) return;
    hasEnded = true;
    events.onEnd(reason);
  };
  child.on('message', (message: FromChild) => {
    if (message.kind === 'memory-exceeded') reason = 'memory';
    else if (!hasEnded) events.onMessage(message);
  });
  child.on('exit', end);
  child.on('error', () => child.kill('SIGKILL'));
  child.on('error', end);
  // Ignore send errors: the end of the process is reported by its exit event.
  const send = (message: ToChild): void => {
    if (child.connected) child.send(message, () => undefined);
  };
  send({ kind: 'open', options });
  return { pid: child.pid, send, kill: () => void child.kill('SIGKILL') };
}
