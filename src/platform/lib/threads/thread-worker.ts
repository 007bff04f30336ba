import { parentPort } from 'node:worker_threads';
import type { Answer } from './thread-pool.ts';

/** The thread's side of lib/threads.ts: answers each task with what `work` makes of it, or with the message of what it throws. */
export function answerTasks<Task>(work: (task: Task) => unknown): void {
  const port = parentPort;
  if (!port) throw new Error('This module runs in a worker thread only.');
  port.on('message', async (task: Task) => {
    let answer: Answer;
    try {
      answer = { result: await work(task) };
    } catch (error) {
      answer = { error: error instanceof Error ? error.message : String(error) };
    }
    port.postMessage(answer);
  });
}
