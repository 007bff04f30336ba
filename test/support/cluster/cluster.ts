import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FromWorker, ToWorker } from './cluster-worker.ts';
import { pickEnvironment, root } from '../program.ts';

/** A process and the code that it runs. `url` is undefined until it works, and null without the API. */
type Worker = { child: ChildProcess; url: string | null | undefined; root: string; skewMs: number };

export type ClusterRequest = {
  key: string;
  body?: string;
  headers?: Record<string, string>;
};

export type Cluster = {
  /** Sends the slot time to every process, and to those that start later. */
  setTime: (now: Date) => void;
  /** Makes the clock of one process wrong by so many milliseconds, until it ends. */
  setSkew: (index: number, skewMs: number) => void;
  /** Kills one process and starts another in its place. */
  killOne: (index: number) => void;
  /** Stops one process with SIGTERM and starts another in its place, which runs the code in `root`. */
  replaceOne: (index: number, root: string) => Promise<void>;
  /** Sends a signal to one process. */
  signal: (index: number, signal: NodeJS.Signals) => void;
  /** Kills all processes at a moment when `isRunning` holds, as a power failure would, and starts others in their place. */
  killAllDuringRun: (isRunning: () => Promise<boolean>) => Promise<void>;
  /** Returns whether every process works. */
  isComplete: () => boolean;
  /** Sends a request to one process after another until one responds with 200. A request to a process that died is repeated. */
  ask: (method: string, path: string, request: ClusterRequest) => Promise<unknown>;
  stderr: () => string;
  /** Stops all processes and returns their exit codes. */
  stop: () => Promise<(number | null)[]>;
};

type ClusterState = {
  workers: Worker[];
  environments: readonly NodeJS.ProcessEnv[];
  now: Date;
  errors: string;
  askMaxMs: number;
};

/** Starts one process of cluster-worker.ts for each of these environments. A request is repeated for up to `askMaxMs`. */
export async function startCluster(
  environments: readonly NodeJS.ProcessEnv[],
  start: Date,
  askMaxMs = 60_000,
): Promise<Cluster> {
  const cluster: ClusterState = { workers: [], environments, now: start, errors: '', askMaxMs };
  for (const index of environments.keys()) startWorker(cluster, index);
  const nextUrl = createTurns(cluster);
  return {
    setTime: (at) => {
      cluster.now = at;
      for (const worker of cluster.workers) sendTime(cluster, worker);
    },
    setSkew: (index, skewMs) => {
      cluster.workers[index]!.skewMs = skewMs;
      sendTime(cluster, cluster.workers[index]!);
    },
    killOne: (index) => killOne(cluster, index),
    replaceOne: async (index, codeRoot) => {
      await stopWorker(cluster.workers[index]!);
      startWorker(cluster, index, codeRoot);
    },
    signal: (index, signal) => void cluster.workers[index]!.child.kill(signal),
    killAllDuringRun: (isRunning) => killAllDuringRun(cluster, isRunning),
    isComplete: () => cluster.workers.every(({ child, url }) => url !== undefined && child.connected),
    ask: (method, path, request) => ask(cluster, nextUrl, { method, path, ...request }),
    stderr: () => cluster.errors,
    stop: () => Promise.all(cluster.workers.map(stopWorker)),
  };
}

function sendTime({ now }: ClusterState, { child, url, skewMs }: Worker): void {
  if (url !== undefined && child.connected) child.send({ now: now.toISOString(), skewMs } satisfies ToWorker);
}

function startWorker(cluster: ClusterState, index: number, codeRoot = cluster.workers[index]?.root ?? root): void {
  const child = fork(join(codeRoot, 'test/support/cluster/cluster-worker.ts'), [cluster.now.toISOString()], {
    env: { ...pickEnvironment(), ...cluster.environments[index] },
    execArgv: ['--disable-warning=ExperimentalWarning'],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  const worker: Worker = { child, url: undefined, root: codeRoot, skewMs: 0 };
  child.stderr?.on('data', (chunk: Buffer) => {
    cluster.errors = `${cluster.errors}${chunk.toString()}`.slice(-20_000);
  });
  child.on('message', ({ url }: FromWorker) => {
    worker.url = url;
    sendTime(cluster, worker);
  });
  child.on('error', () => undefined);
  cluster.workers[index] = worker;
}

/** Stops a process once it works. Before that, the signal would end it without an exit code. */
async function stopWorker(worker: Worker): Promise<number | null> {
  const { child } = worker;
  const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null;
  const exit = once(child, 'exit');
  if (worker.url === undefined && !hasEnded()) await Promise.race([once(child, 'message'), exit]);
  if (hasEnded()) return child.exitCode;
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
    if (await isRunning()) {
      signalAll(cluster, 'SIGSTOP');
      if (await isRunning()) break;
      signalAll(cluster, 'SIGCONT');
    }
    await sleep(25);
  }
  for (const index of cluster.workers.keys()) killOne(cluster, index);
}

function signalAll({ workers }: ClusterState, signal: NodeJS.Signals): void {
  for (const { child } of workers) child.kill(signal);
}

const turnsMax = 3000;

/** Returns a function that returns the address of one process after another. */
function createTurns(cluster: ClusterState): () => Promise<string> {
  let turn = 0;
  return async () => {
    for (let tries = 0; tries < turnsMax; tries += 1) {
      const worker = cluster.workers[(turn += 1) % cluster.workers.length];
      if (worker?.url && worker.child.connected) return worker.url;
      await sleep(10);
    }
    throw new Error(`no process started:\n${cluster.errors}`);
  };
}

/** What a client repeats: an interrupted request keeps its Idempotency-Key locked for a while, and a part of the service is unavailable. */
const repeatedStatuses = [409, 503, 507];
const responseMaxMs = 10_000;

/** Sends a request until a process responds with 200. */
async function ask(
  cluster: ClusterState,
  nextUrl: () => Promise<string>,
  { method, path, key, body, headers = {} }: ClusterRequest & { method: string; path: string },
): Promise<unknown> {
  const init = {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body }),
  };
  let last: unknown;
  const startMs = performance.now();
  while (performance.now() - startMs < cluster.askMaxMs) {
    try {
      const answer = await fetch(`${await nextUrl()}${path}`, { ...init, signal: AbortSignal.timeout(responseMaxMs) });
      const read: unknown = await answer.json();
      if (answer.status === 200) return read;
      last = read;
      if (!repeatedStatuses.includes(answer.status)) break;
    } catch (error) {
      last = error;
    }
    await sleep(50);
  }
  throw new Error(`${method} ${path}: ${JSON.stringify(last)} ${String(last)}\n${cluster.errors}`);
}
