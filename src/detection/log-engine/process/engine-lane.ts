import { SiemError } from '../../siem/connector.ts';
import { startChild, type ChildEnd, type EngineChild } from './child-process.ts';
import { cancelledError, engineError, memoryError, timeoutError } from '../engine-failures.ts';
import { clearTimers, type EngineTask } from './engine-task.ts';
import type { FromChild, OpenOptions } from '../queries/protocol.ts';

/** How long after a statement was interrupted its process is killed, unless it has finished. */
const graceMs = 2000;
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

/** One organization's queue and the engine processes that work on it. At most one process takes new tasks; the others are retired. */
export type EngineLane = {
  queue: EngineTask[];
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

type LaneState = {
  options: OpenOptions;
  /** How many tasks a process may run at a time. */
  concurrency: number;
  onChange: () => void;
  queue: EngineTask[];
  processes: Set<EngineProcess>;
  /** The process that takes new tasks. */
  current: EngineProcess | undefined;
  /** When a task last finished, in monotonic milliseconds. */
  usedAt: number;
};

/** Creates a lane that runs up to `concurrency` tasks at a time. Calls `onChange` whenever another task might be able to start. */
export function createLane(options: OpenOptions, concurrency: number, onChange: () => void): EngineLane {
  const lane: LaneState = {
    options,
    concurrency,
    onChange,
    queue: [],
    processes: new Set(),
    current: undefined,
    usedAt: performance.now(),
  };
  return {
    queue: lane.queue,
    processCount: () => lane.processes.size,
    idleSince: () => (lane.current?.running.size === 0 && lane.queue.length === 0 ? lane.usedAt : undefined),
    canStart: () => canStart(lane),
    start: () => startNext(lane),
    stop: (task, reason) => stopTask(lane, task, reason),
    hasEngine: () => lane.current !== undefined,
    startedAt: () => lane.current?.startedAt ?? Infinity,
    retire: () => retireCurrent(lane),
    close: () => closeLane(lane),
  };
}

function openEngine(lane: LaneState): EngineProcess {
  if (lane.current) return lane.current;
  const engine: EngineProcess = {
    running: new Map(),
    started: 0,
    isRetired: false,
    startedAt: performance.now(),
    openTimer: setTimeout(() => engine.child.kill(), openMaxMs),
    child: startChild(lane.options, {
      onMessage: (message) => handleMessage(lane, engine, message),
      onEnd: (reason) => handleEnd(lane, engine, reason),
    }),
  };
  lane.processes.add(engine);
  lane.current = engine;
  return engine;
}

function canStart({ queue, current, concurrency }: LaneState): boolean {
  const next = queue[0];
  if (!next) return false;
  const running = [...(current?.running.values() ?? [])];
  if (next.runsAlone) return running.length === 0;
  return running.length < concurrency && !running.some((task) => task.runsAlone);
}

function startNext(lane: LaneState): void {
  const task = lane.queue.shift();
  if (!task) return;
  if (task.runsAlone) retireCurrent(lane);
  const engine = openEngine(lane);
  task.tries += 1;
  task.rows = [];
  engine.started += 1;
  engine.running.set(task.id, task);
  if (!engine.openTimer) limitTime(lane, engine, task);
  engine.child.send(task.message);
}

function limitTime(lane: LaneState, engine: EngineProcess, task: EngineTask): void {
  const stop = (): void => stopRunning(lane, engine, task, timeoutError(task.timeoutMs));
  task.timers.push(setTimeout(stop, task.timeoutMs));
}

function stopTask(lane: LaneState, task: EngineTask, reason: SiemError): void {
  const index = lane.queue.indexOf(task);
  if (index >= 0) {
    lane.queue.splice(index, 1);
    task.settle(reason);
    return;
  }
  for (const engine of lane.processes) if (engine.running.has(task.id)) stopRunning(lane, engine, task, reason);
}

function stopRunning(lane: LaneState, engine: EngineProcess, task: EngineTask, reason: SiemError): void {
  if (task.stopReason) return;
  task.stopReason = reason;
  retireProcess(lane, engine);
  engine.child.send({ kind: 'cancel', id: task.id });
  task.timers.push(setTimeout(() => engine.child.kill(), graceMs));
}

function handleMessage(lane: LaneState, engine: EngineProcess, message: FromChild): void {
  if (message.kind === 'ready') return handleReady(lane, engine);
  if (message.kind === 'memory-exceeded') return;
  const task = engine.running.get(message.id);
  if (!task) return;
  if (message.kind === 'rows') {
    task.rows.push(...message.rows);
    return;
  }
  engine.running.delete(message.id);
  lane.usedAt = performance.now();
  if (message.kind === 'failed' && message.mustReplaceEngine) retireProcess(lane, engine);
  if (task.stopReason) task.settle(task.stopReason);
  else if (message.kind === 'failed' && message.failure.kind === 'query_memory' && !usedUpMemory(engine, task))
    repeatAlone(lane, task);
  else if (message.kind === 'failed') task.settle(new SiemError(message.failure));
  else {
    const end = message.kind === 'done' ? message.end : { total: 0, truncated: false, columns: [] };
    task.settle({ rows: task.rows, end, inspection: message.kind === 'inspected' ? message.inspection : undefined });
  }
  killIfFinished(engine);
  lane.onChange();
}

function handleReady(lane: LaneState, engine: EngineProcess): void {
  clearTimeout(engine.openTimer);
  engine.openTimer = undefined;
  for (const task of engine.running.values()) limitTime(lane, engine, task);
}

/** Settles or repeats the tasks of a process that has ended. */
function handleEnd(lane: LaneState, engine: EngineProcess, reason: ChildEnd): void {
  clearTimeout(engine.openTimer);
  lane.processes.delete(engine);
  retireProcess(lane, engine);
  const tasks = [...engine.running.values()];
  const wasStopped = tasks.some((task) => task.stopReason);
  for (const task of tasks.toReversed()) {
    const isCause = reason === 'memory' ? usedUpMemory(engine, task) : tasks.length === 1;
    clearTimers(task);
    if (task.stopReason) task.settle(task.stopReason);
    else if (task.tries >= triesMax || (isCause && !wasStopped)) task.settle(processError(reason));
    else if (wasStopped) lane.queue.unshift(task);
    else repeatAlone(lane, task);
  }
  lane.onChange();
}

/** Returns whether the task itself used up the memory: no other task has used the process, or repeating it did not help. */
const usedUpMemory = (engine: EngineProcess, task: EngineTask): boolean =>
  engine.started === 1 || task.tries >= triesMax;

/** Queues a task as the next one, for a new process that runs nothing else. */
function repeatAlone(lane: LaneState, task: EngineTask): void {
  clearTimers(task);
  task.runsAlone = true;
  lane.queue.unshift(task);
}

function retireProcess(lane: LaneState, engine: EngineProcess): void {
  engine.isRetired = true;
  if (lane.current === engine) lane.current = undefined;
}

function retireCurrent(lane: LaneState): void {
  const engine = lane.current;
  if (!engine) return;
  retireProcess(lane, engine);
  killIfFinished(engine);
}

function killIfFinished(engine: EngineProcess): void {
  if (engine.isRetired && engine.running.size === 0) engine.child.kill();
}

function closeLane({ queue, processes }: LaneState): void {
  for (const task of queue.splice(0)) task.settle(cancelledError());
  for (const engine of processes) {
    for (const task of engine.running.values()) task.stopReason ??= cancelledError();
    engine.child.kill();
  }
}

function processError(reason: ChildEnd): SiemError {
  return reason === 'memory' ? memoryError() : engineError('The query engine ended unexpectedly and was restarted.');
}
