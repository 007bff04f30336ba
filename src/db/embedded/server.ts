import { type Answer, askServer } from './answers.ts';
import { type Cluster, binariesFor, ensurePassword, findPassword, openCluster } from './cluster.ts';
import { launchPostmaster } from './launch.ts';
import { type Postmaster, findPostmaster, haltPostmaster, readPidFile, waitForReady } from './postmaster.ts';
import { clearRemains } from './remains.ts';
import type { Settings } from './settings.ts';

export type Server = Postmaster & { url: string; location: string; isNew: boolean };
/** `isUsed`: other processes use the server, so that it may not be stopped under them. `port`: the only one that will do. */
export type Wanted = { dataDir: string; isUsed: boolean; port?: number; settings: Settings; log: (line: string) => void };

/**
 * The running server of a data directory: the one that is there where it answers, else a new one. Call it only in a turn.
 * A broken one that nobody else uses is stopped first; one that others use is left, and the call fails with a sentence.
 */
export async function ensureServer(wanted: Wanted): Promise<Server> {
  const cluster = await openCluster(wanted.dataDir, wanted.log);
  return (await findServer(cluster, wanted)) ?? startServer(cluster, wanted);
}

async function findServer(cluster: Cluster, wanted: Wanted): Promise<Server | undefined> {
  const running = findPostmaster(cluster);
  if (!running) return undefined;
  const problem = await findProblem(cluster, running, wanted);
  const port = findPostmaster(cluster)?.port;
  if (!problem && port) return serverOf(cluster, { pid: running.pid, port }, false);
  if (!port) return undefined;
  if (wanted.isUsed) throw new Error(`PostgreSQL (pid ${running.pid}) in ${cluster.location} does not answer: ${problem}`);
  wanted.log(`stopping a server that was left behind (pid ${running.pid}) and does not answer: ${problem}`);
  await haltPostmaster(running.pid);
  return undefined;
}

/** What keeps a living server from being used; undefined also where it ended meanwhile. */
async function findProblem(cluster: Cluster, { pid, status }: { pid: number; status: string }, wanted: Wanted): Promise<string | undefined> {
  if (!findPassword(cluster.dataDir)) return 'the file with its password is missing';
  if (status === 'stopping' && wanted.isUsed) return 'it is being stopped';
  if (status === 'stopping') return 'it was told to stop';
  if (!(await waitForReady(cluster, pid, wanted.log))) return undefined;
  const running = findPostmaster(cluster);
  return running ? reasonOf(await askServer(urlOf(cluster, running.port))) : undefined;
}

async function startServer(cluster: Cluster, { port, settings, log }: Wanted): Promise<Server> {
  const binaries = binariesFor(cluster);
  const lastPort = readPidFile(cluster)?.port;
  await clearRemains(cluster);
  await ensurePassword(cluster, binaries);
  const postmaster = await launchPostmaster(cluster, binaries, { port: port ?? lastPort, portFixed: port !== undefined, settings, log });
  const server = serverOf(cluster, postmaster, true);
  const problem = reasonOf(await askServer(server.url));
  if (!problem) return server;
  await haltPostmaster(server.pid);
  throw new Error(`PostgreSQL in ${cluster.location} runs but does not let us in: ${problem}`);
}

function serverOf(cluster: Cluster, { pid, port }: Postmaster, isNew: boolean): Server {
  return { pid, port, url: urlOf(cluster, port), location: cluster.location, isNew };
}

function urlOf(cluster: Cluster, port: number): string {
  return `postgres://tocsin:${findPassword(cluster.dataDir)}@127.0.0.1:${port}/tocsin`;
}

function reasonOf(answer: Answer): string | undefined {
  return answer.kind === 'ok' ? undefined : answer.reason;
}
