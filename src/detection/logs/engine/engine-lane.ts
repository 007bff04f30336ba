import { SiemError } from '../../siem/connector.ts';
import { startChild, type ChildEnd, type EngineChild } from './child-process.ts';
import { authorError, cancelledError, engineError, timeoutError } from './engine-failures.ts';
import { clearTimers, type EngineTask } from './engine-task.ts';
import type { FromChild, OpenOptions } from './protocol.ts';

/** A statement is interrupted at its time limit and its process killed this much later. */
const graceMs = 2000;
const triesMax = 3;

type Live = { process: EngineChild; running: Map<number, EngineTask>; retired: boolean; startedAt: number };

/** One organization's queue and the engine process that works on it. `changed` is called whenever another task might start. */
export type EngineLane = {
  queue: EngineTask[];
  idleSince: () => number | undefined;
  live: () => number;
  hasEngine: () => boolean;
  /** When the engine that takes new work was started; Infinity without one. Monotonic milliseconds. */
  startedAt: () => number;
  canStart: () => boolean;
  start: () => void;
  stop: (task: EngineTask, why: SiemError) => void;
  /** Ends an engine that has nothing to do. */
  retire: () => void;
  /** Ends everything at once; what was asked fails as cancelled. */
  close: () => void;
};

export function createLane(open: OpenOptions, atOnce: number, changed: () => void): EngineLane {
  const queue: EngineTask[] = [];
  const lives = new Set<Live>();
  let current: Live | undefined;
  let usedAt = performance.now();

  function engine(): Live {
    if (current) return current;
    const live: Live = {
      running: new Map(),
      retired: false,
      startedAt: performance.now(),
      process: startChild(open, { onMessage: (message) => answer(live, message), onEnd: (why) => lost(live, why) }),
    };
    lives.add(live);
    current = live;
    return live;
  }

  function start(): void {
    const task = queue.shift();
    if (!task) return;
    const live = engine();
    task.tries += 1;
    task.rows = [];
    live.running.set(task.id, task);
    task.timers.push(setTimeout(() => stopRunning(live, task, timeoutError(task.timeoutMs)), task.timeoutMs));
    live.process.send(task.message);
  }

  function canStart(): boolean {
    const next = queue[0];
    if (!next) return false;
    const running = [...(current?.running.values() ?? [])];
    return next.alone ? running.length === 0 : running.length < atOnce && !running.some((task) => task.alone);
  }

  function stop(task: EngineTask, why: SiemError): void {
    const queued = queue.indexOf(task);
    if (queued >= 0) {
      queue.splice(queued, 1);
      task.settle(why);
      return;
    }
    for (const live of lives) if (live.running.has(task.id)) stopRunning(live, task, why);
  }

  function stopRunning(live: Live, task: EngineTask, why: SiemError): void {
    if (task.stopped) return;
    task.stopped = why;
    retireLive(live);
    live.process.send({ kind: 'cancel', id: task.id });
    task.timers.push(setTimeout(() => live.process.kill(), graceMs));
  }

  function answer(live: Live, message: FromChild): void {
    if (message.kind === 'ready' || message.kind === 'over') return;
    const task = live.running.get(message.id);
    if (!task) return;
    if (message.kind === 'rows') {
      task.rows.push(...message.rows);
      return;
    }
    live.running.delete(message.id);
    usedAt = performance.now();
    if (message.kind === 'failed' && message.poisoned) retireLive(live);
    if (task.stopped) task.settle(task.stopped);
    else if (message.kind === 'failed') task.settle(new SiemError(message.failure));
    else {
      const end = message.kind === 'done' ? message.end : { total: 0, truncated: false };
      task.settle({ rows: task.rows, end, inspection: message.kind === 'inspected' ? message.inspection : undefined });
    }
    endIfRetired(live);
    changed();
  }

  // No new work for an engine whose state is in doubt; what it is doing it may finish.
  function retireLive(live: Live): void {
    live.retired = true;
    if (current === live) current = undefined;
  }

  function endIfRetired(live: Live): void {
    if (live.retired && live.running.size === 0) live.process.kill();
  }

  function lost(live: Live, why: ChildEnd): void {
    lives.delete(live);
    retireLive(live);
    const tasks = [...live.running.values()];
    const known = tasks.some((task) => task.stopped);
    for (const task of tasks.toReversed()) {
      clearTimers(task);
      const guilty = !known && tasks.length === 1;
      if (task.stopped) task.settle(task.stopped);
      else if (guilty || task.tries >= triesMax) task.settle(endedBy(why));
      else {
        task.alone = !known;
        queue.unshift(task);
      }
    }
    changed();
  }

  function endedBy(why: ChildEnd): SiemError {
    if (why === 'memory') return authorError('query_memory', 'The query needs more memory than a query may have.');
    return engineError('The query engine ended unexpectedly and was replaced.');
  }

  return {
    queue,
    live: () => lives.size,
    idleSince: () => (current && current.running.size === 0 && queue.length === 0 ? usedAt : undefined),
    canStart,
    start,
    stop,
    hasEngine: () => current !== undefined,
    startedAt: () => current?.startedAt ?? Infinity,
    retire: () => {
      const live = current;
      if (!live) return;
      retireLive(live);
      endIfRetired(live);
    },
    close: () => {
      for (const task of queue.splice(0)) task.settle(cancelledError());
      for (const live of lives) {
        for (const task of live.running.values()) task.stopped ??= cancelledError();
        live.process.kill();
      }
    },
  };
}
