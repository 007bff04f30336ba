import { setPriority } from 'node:os';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { parentPort } from 'node:worker_threads';
import { fromOutcomeError, toOutcome, type FromThread, type ToThread } from './thread-protocol.ts';

/** Sends a request to the owner of the pool and resolves with its answer. Restarts the time limit of the task. */
export type CallOwner = (request: unknown) => Promise<unknown>;

/** Serves the tasks of a thread pool, whose time limits begin with this call: replies with the result of `work`, or with the error that it throws. */
export function serveTasks<Task>(work: (task: Task, callOwner: CallOwner) => unknown): void {
  const port = parentPort;
  if (!port) throw new Error('This module must run in a worker thread.');
  const send = (message: FromThread): void => port.postMessage(message);
  const calls = new Map<number, PromiseWithResolvers<unknown>>();
  let lastCall = 0;
  const callOwnerOf =
    (id: number): CallOwner =>
    (request) => {
      const answer = Promise.withResolvers<unknown>();
      lastCall += 1;
      calls.set(lastCall, answer);
      send({ id, call: lastCall, request });
      return answer.promise;
    };
  port.on('message', async (message: ToThread) => {
    if ('task' in message) {
      const { id, task, isLarge } = message;
      send({ id, ...(await toOutcome(() => work(task as Task, callOwnerOf(id)))) });
      // Later, because this function refers to the task.
      if (isLarge) setImmediate(collectGarbage);
      return;
    }
    const answer = calls.get(message.call)!;
    calls.delete(message.call);
    if ('error' in message) answer.reject(fromOutcomeError(message.error));
    else answer.resolve(message.result);
  });
  send({ isReady: true });
}

/** Returns unused memory of this thread to the system. Takes far less time than starting another thread. */
function collectGarbage(): void {
  // Node.js has no function for it. A context that is created after the flag was set has one.
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as (options: object) => void;
  // An ordinary collection keeps most of the freed pages for about eight seconds.
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}

/**
 * Gives this thread a lower priority than the rest of the process, so that background work leaves the processor to requests. Only on Linux,
 * where priorities are per thread.
 */
export function lowerThreadPriority(): void {
  if (process.platform === 'linux') setPriority(10);
}

/** Lowers the priority of another process of this machine, if the system allows it. */
export function lowerProcessPriority(pid: number): void {
  try {
    setPriority(pid, 5);
  } catch {
    // The process has another owner.
  }
}
