import { SiemError } from '../../siem/connector.ts';
import { startChild, type ChildEnd, type EngineChild } from './child-process.ts';
import { cancelledError, engineError, memoryError, timeoutError } from './engine-failures.ts';
import { clearTimers, type EngineTask } from './engine-task.ts';
import type { FromChild, OpenOptions } from './protocol.ts';

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

/** Creates a lane that runs up to `concurrency` tasks at a time. Calls `onChange` whenever another task might be able to start. */
export function createLane(options: OpenOptions, concurrency: number, onChange: () => void): EngineLane {
  const queue: EngineTask[] = [];
  const processes = new Set<EngineProcess>();
  let current: EngineProcess | undefined;
  let usedAt = performance.now();

  function openEngine(): EngineProcess {
    if (current) return current;
    const engine: EngineProcess = {
      running: new Map(),
      started: 0,
      isRetired: false,
      startedAt: performance.now(),
      openTimer: setTimeout(() => engine.child.kill(), openMaxMs),
      child: startChild(options, {
        onMessage: (message) => handleMessage(engine, message),
        onEnd: (reason) => handleEnd(engine, reason),
      }),
    };
    processes.add(engine);
    current = engine;
    return engine;
  }

  function start(): void {
    const task = queue.shift();
    if (!task) return;
    if (task.runsAlone) retireCurrent();
    const engine = openEngine();
    task.tries += 1;
    task.rows = [];
    engine.started += 1;
    engine.running.set(task.id, task);
    if (!engine.openTimer) limitTime(engine, task);
    engine.child.send(task.message);
  }

  function limitTime(engine: EngineProcess, task: EngineTask): void {
    task.timers.push(setTimeout(() => stopRunning(engine, task, timeoutError(task.timeoutMs)), task.timeoutMs));
  }

  function handleReady(engine: EngineProcess): void {
    clearTimeout(engine.openTimer);
    engine.openTimer = undefined;
    for (const task of engine.running.values()) limitTime(engine, task);
  }

  function canStart(): boolean {
    const next = queue[0];
    if (!next) return false;
    const running = [...(current?.running.values() ?? [])];
    if (next.runsAlone) return running.length === 0;
    return running.length < concurrency && !running.some((task) => task.runsAlone);
  }

  function stop(task: EngineTask, reason: SiemError): void {
    const index = queue.indexOf(task);
    if (index >= 0) {
      queue.splice(index, 1);
      task.settle(reason);
      return;
    }
    for (const engine of processes) if (engine.running.has(task.id)) stopRunning(engine, task, reason);
  }

  function stopRunning(engine: EngineProcess, task: EngineTask, reason: SiemError): void {
    if (task.stopReason) return;
    task.stopReason = reason;
    retireProcess(engine);
    engine.child.send({ kind: 'cancel', id: task.id });
    task.timers.push(setTimeout(() => engine.child.kill(), graceMs));
  }

  function handleMessage(engine: EngineProcess, message: FromChild): void {
    if (message.kind === 'ready') return handleReady(engine);
    if (message.kind === 'memory-exceeded') return;
    const task = engine.running.get(message.id);
    if (!task) return;
    if (message.kind === 'rows') {
      task.rows.push(...message.rows);
      return;
    }
    engine.running.delete(message.id);
    usedAt = performance.now();
    if (message.kind === 'failed' && message.mustReplaceEngine) retireProcess(engine);
    if (task.stopReason) task.settle(task.stopReason);
    else if (message.kind === 'failed' && message.failure.kind === 'query_memory' && !usedUpMemory(engine, task))
      repeatAlone(task);
    else if (message.kind === 'failed') task.settle(new SiemError(message.failure));
    else {
      const end = message.kind === 'done' ? message.end : { total: 0, truncated: false, columns: [] };
      task.settle({ rows: task.rows, end, inspection: message.kind === 'inspected' ? message.inspection : undefined });
    }
    killIfFinished(engine);
    onChange();
  }

  function retireProcess(engine: EngineProcess): void {
    engine.isRetired = true;
    if (current === engine) current = undefined;
  }

  function retireCurrent(): void {
    const engine = current;
    if (!engine) return;
    retireProcess(engine);
    killIfFinished(engine);
  }

  /** Reports whether the task itself used up the memory: no other task has used the process, or repeating it did not help. */
  const usedUpMemory = (engine: EngineProcess, task: EngineTask): boolean =>
    engine.started === 1 || task.tries >= triesMax;

  /** Queues a task as the next one, for a new process that runs nothing else. */
  function repeatAlone(task: EngineTask): void {
    clearTimers(task);
    task.runsAlone = true;
    queue.unshift(task);
  }

  function killIfFinished(engine: EngineProcess): void {
    if (engine.isRetired && engine.running.size === 0) engine.child.kill();
  }

  function handleEnd(engine: EngineProcess, reason: ChildEnd): void {
    clearTimeout(engine.openTimer);
    processes.delete(engine);
    retireProcess(engine);
    const tasks = [...engine.running.values()];
    const wasStopped = tasks.some((task) => task.stopReason);
    for (const task of tasks.toReversed()) {
      const isCause = reason === 'memory' ? usedUpMemory(engine, task) : tasks.length === 1;
      clearTimers(task);
      if (task.stopReason) task.settle(task.stopReason);
      else if (task.tries >= triesMax || (isCause && !wasStopped)) task.settle(processError(reason));
      else if (wasStopped) queue.unshift(task);
      else repeatAlone(task);
    }
    onChange();
  }

  return {
    queue,
    processCount: () => processes.size,
    idleSince: () => (current && current.running.size === 0 && queue.length === 0 ? usedAt : undefined),
    canStart,
    start,
    stop,
    hasEngine: () => current !== undefined,
    startedAt: () => current?.startedAt ?? Infinity,
    retire: retireCurrent,
    close: () => {
      for (const task of queue.splice(0)) task.settle(cancelledError());
      for (const engine of processes) {
        for (const task of engine.running.values()) task.stopReason ??= cancelledError();
        engine.child.kill();
      }
    },
  };
}

function processError(reason: ChildEnd): SiemError {
  return reason === 'memory' ? memoryError() : engineError('The query engine ended unexpectedly and was restarted.');
}
