import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FromWorker } from './cluster-worker.ts';
import { root } from '../program.ts';

type Worker = { child: ChildProcess; url: string | undefined };

export type Cluster = {
  /** Sends the slot time to every process, and to those that start later. */
  setTime: (now: Date) => void;
  /** Kills one process and starts another in its place. */
  killOne: (index: number) => void;
  /** Kills all processes at a moment when `isRunning` holds, as a power failure would, and starts others in their place. */
  killAllDuringRun: (isRunning: () => Promise<boolean>) => Promise<void>;
  /** Sends a request to one process after another until one responds. A request to a process that died is repeated. */
  ask: (
    method: string,
    path: string,
    options: { key: string; body?: string; headers?: Record<string, string> },
  ) => Promise<unknown>;
  stderr: () => string;
  /** Stops all processes and returns their exit codes. */
  stop: () => Promise<(number | null)[]>;
};

type ClusterState = { workers: Worker[]; environments: readonly NodeJS.ProcessEnv[]; now: Date; errors: string };

/** Starts one process of cluster-worker.ts for each of these environments. */
export async function startCluster(environments: readonly NodeJS.ProcessEnv[], start: Date): Promise<Cluster> {
  const cluster: ClusterState = { workers: [], environments, now: start, errors: '' };
  for (const index of environments.keys()) startWorker(cluster, index);
  const nextUrl = createTurns(cluster);
  return {
    setTime: (at) => {
      cluster.now = at;
      for (const { child, url } of cluster.workers)
        if (url !== undefined && child.connected) child.send({ now: at.toISOString() });
    },
    killOne: (index) => killOne(cluster, index),
    killAllDuringRun: (isRunning) => killAllDuringRun(cluster, isRunning),
    ask: (method, path, options) => ask(cluster, nextUrl, { method, path, ...options }),
    stderr: () => cluster.errors,
    stop: () => Promise.all(cluster.workers.map(stopWorker)),
  };
}

function startWorker(cluster: ClusterState, index: number): void {
  const child = fork(join(root, 'test/support/cluster/cluster-worker.ts'), [cluster.now.toISOString()], {
    env: { PATH: process.env['PATH'] ?? '', ...cluster.environments[index] },
    execArgv: ['--disable-warning=ExperimentalWarning'],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  const worker: Worker = { child, url: undefined };
  child.stderr?.on('data', (chunk: Buffer) => {
    cluster.errors = `${cluster.errors}${chunk.toString()}`.slice(-20_000);
  });
  child.on('message', ({ url }: FromWorker) => {
    worker.url = url;
    child.send({ now: cluster.now.toISOString() });
  });
  child.on('error', () => undefined);
  cluster.workers[index] = worker;
}

async function stopWorker({ child }: Worker): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
  const exit = once(child, 'exit');
  child.kill('SIGTERM');
  const [code] = (await exit) as [number | null];
  return code;
}

function killOne(cluster: ClusterState, index: number): void {
  cluster.workers[index]?.child.kill('SIGKILL');
  startWorker(cluster, index);
}

async function killAllDuringRun(cluster: ClusterState, isRunning: () => Promise<boolean>): Promise<void> {
  for (;;) {
    signalAll(cluster, 'SIGSTOP');
    if (await isRunning()) break;
    signalAll(cluster, 'SIGCONT');
    await sleep(10);
  }
  for (const index of cluster.workers.keys()) killOne(cluster, index);
}

function signalAll({ workers }: ClusterState, signal: NodeJS.Signals): void {
  for (const { child } of workers) child.kill(signal);
}

/** Returns a function that returns the address of one process after another. */
function createTurns(cluster: ClusterState): () => Promise<string> {
  let turn = 0;
  return async () => {
    for (let tries = 0; tries < 3000; tries += 1) {
      const worker = cluster.workers[(turn += 1) % cluster.workers.length];
      if (worker?.url !== undefined && worker.child.connected) return worker.url;
      await sleep(10);
    }
    throw new Error(`no process started:\n${cluster.errors}`);
  };
}

type ClusterRequest = { method: string; path: string; key: string; body?: string; headers?: Record<string, string> };

/** Sends a request until a process responds with 200. */
async function ask(
  cluster: ClusterState,
  nextUrl: () => Promise<string>,
  { method, path, key, body, headers = {} }: ClusterRequest,
): Promise<unknown> {
  const init = {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body }),
  };
  let last: unknown;
  for (let tries = 0; tries < 30; tries += 1) {
    try {
      const answer = await fetch(`${await nextUrl()}${path}`, init);
      const read: unknown = await answer.json();
      if (answer.status === 200) return read;
      last = read;
      // An interrupted request keeps its Idempotency-Key locked for a while.
      if (![409, 503].includes(answer.status)) break;
    } catch (error) {
      last = error;
    }
    await sleep(50);
  }
  throw new Error(`${method} ${path}: ${JSON.stringify(last)} ${String(last)}\n${cluster.errors}`);
}
