import { parentPort } from 'node:worker_threads';
import type { TaskReply } from './thread-pool.ts';

/** Serves the tasks of a thread pool: replies with the result of `work`, or with the message of the error that it throws. */
export function serveTasks<Task>(work: (task: Task) => unknown): void {
  const port = parentPort;
  if (!port) throw new Error('This module must run in a worker thread.');
  port.on('message', async (task: Task) => {
    let reply: TaskReply;
    try {
      reply = { result: await work(task) };
    } catch (error) {
      reply = { error: error instanceof Error ? error.message : String(error) };
    }
    port.postMessage(reply);
  });
}
