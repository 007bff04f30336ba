import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { pickEnvironment } from '../test/support/program.ts';
import type { FromWorker, ToWorker, WorkerTask } from './worker.ts';

/** The memory samples and processor time of one process. `hour` is the hour of slot time; `liveMib` is measured after a garbage collection. */
export type WorkerLife = {
  worker: number;
  samples: { hour: number; residentMib: number; liveMib: number }[];
  cpuMs: number;
  isKilled: boolean;
};

export type WorkerProcesses = {
  setSlotTime: (now: Date, hour: number) => void;
  /** Kills one process with SIGKILL and starts another one in its place. */
  kill: (index: number) => void;
  lives: WorkerLife[];
  /** Returns the end of the processes' stderr output. */
  stderr: () => string;
  /** Stops all processes with SIGTERM and returns their exit codes. */
  stop: () => Promise<(number | null)[]>;
};

/** The memory of a process is measured every so many hours of slot time. A garbage collection of each hour would take most of its time. */
const measuredHours = 6;

type Running = { child: ChildProcess; life: WorkerLife };

/** Starts several processes of soak/worker.ts on one database. */
export function startWorkers(count: number, env: Record<string, string>, task: WorkerTask): WorkerProcesses {
  let { now } = task;
  let currentHour = 0;
  let errors = '';
  const lives: WorkerLife[] = [];
  const running: Running[] = [];
  const start = (worker: number): void => {
    const child = fork(join(import.meta.dirname, 'worker.ts'), [JSON.stringify({ ...task, now })], {
      env: { ...pickEnvironment(), ...env },
      execArgv: ['--disable-warning=ExperimentalWarning', '--expose-gc'],
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    const life: WorkerLife = { worker, samples: [], cpuMs: 0, isKilled: false };
    child.stderr?.on('data', (chunk: Buffer) => {
      errors = `${errors}${chunk.toString()}`.slice(-20_000);
    });
    child.on('message', ({ rssBytes, liveBytes, cpuMs }: FromWorker) => {
      if (life.samples.length === 0) child.send({ now, measures: false } satisfies ToWorker);
      life.cpuMs = cpuMs;
      life.samples.push({ hour: currentHour, residentMib: rssBytes / 2 ** 20, liveMib: liveBytes / 2 ** 20 });
    });
    child.on('error', () => undefined);
    running[worker] = { child, life };
    lives.push(life);
  };
  for (let index = 0; index < count; index += 1) start(index);
  return {
    lives,
    setSlotTime: (time, hour) => {
      now = time.toISOString();
      currentHour = hour;
      const message: ToWorker = { now, measures: hour % measuredHours === 0 };
      for (const { child, life } of running) if (life.samples.length > 0 && child.connected) child.send(message);
    },
    kill: (index) => {
      const { child, life } = running[index]!;
      life.isKilled = true;
      child.kill('SIGKILL');
      start(index);
    },
    stderr: () => errors,
    stop: () => Promise.all(running.map(stopProcess)),
  };
}

/** Stops a process with SIGTERM once it has started. Before that, the signal would end it without an exit code. */
async function stopProcess({ child, life }: Running): Promise<number | null> {
  const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null;
  if (hasEnded()) return child.exitCode;
  const exit = once(child, 'exit');
  if (life.samples.length === 0) await Promise.race([once(child, 'message'), exit]);
  if (hasEnded()) return child.exitCode;
  child.kill('SIGTERM');
  const [code] = (await exit) as [number | null];
  return code;
}
