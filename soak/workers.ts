import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { FromWorker, WorkerTask } from './worker.ts';

/** Memory of one process over its life (`hour` of slot time; resident and, after a collection, live MiB), and the processor time that it took. */
export type Life = {
  worker: number;
  samples: { hour: number; mib: number; live: number }[];
  cpuMs: number;
  isKilled: boolean;
};

export type Workers = {
  leap: (now: Date, hour: number) => void;
  /** Ends one process without a word and starts another in its place. */
  kill: (index: number) => void;
  lives: Life[];
  /** What they wrote to stderr last. */
  stderr: () => string;
  /** Orderly; answers the exit codes. */
  stop: () => Promise<(number | null)[]>;
};

type Running = { child: ChildProcess; life: Life };

/** Several processes of soak/worker.ts on one database. */
export function startWorkers(count: number, env: Record<string, string>, task: WorkerTask): Workers {
  let { now } = task;
  let at = 0;
  let errors = '';
  const lives: Life[] = [];
  const running: Running[] = [];
  const add = (worker: number): void => {
    const child = fork(join(import.meta.dirname, 'worker.ts'), [JSON.stringify({ ...task, now })], {
      env: { PATH: process.env['PATH'] ?? '', ...env },
      execArgv: ['--disable-warning=ExperimentalWarning', '--expose-gc'],
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    const life: Life = { worker, samples: [], cpuMs: 0, isKilled: false };
    child.stderr?.on('data', (chunk: Buffer) => {
      errors = `${errors}${chunk.toString()}`.slice(-20_000);
    });
    child.on('message', ({ rssBytes, liveBytes, cpuMs }: FromWorker) => {
      if (life.samples.length === 0) child.send({ now });
      life.cpuMs = cpuMs;
      life.samples.push({ hour: at, mib: rssBytes / 2 ** 20, live: liveBytes / 2 ** 20 });
    });
    child.on('error', () => undefined);
    running[worker] = { child, life };
    lives.push(life);
  };
  for (let index = 0; index < count; index += 1) add(index);
  return {
    lives,
    leap: (to, hour) => {
      now = to.toISOString();
      at = hour;
      for (const { child, life } of running) if (life.samples.length > 0 && child.connected) child.send({ now });
    },
    kill: (index) => {
      const { child, life } = running[index]!;
      life.isKilled = true;
      child.kill('SIGKILL');
      add(index);
    },
    stderr: () => errors,
    stop: () => Promise.all(running.map(({ child }) => ended(child))),
  };
}

async function ended(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
  const exit = once(child, 'exit');
  child.kill('SIGTERM');
  const [code] = (await exit) as [number | null];
  return code;
}
