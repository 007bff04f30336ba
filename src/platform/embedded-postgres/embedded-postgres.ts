import { isSocket } from './address.ts';
import type { FileLock } from '../lib/storage/file-lock.ts';
import { prepareDataDir, takeOwnership } from './data-dir.ts';
import { ensureServer, openServerUsage, type Server, type ServerUsage, superviseServer } from './server.ts';
import type { ServerSettings } from './launch-postmaster.ts';
import { findPostmaster, haltPostmaster } from './postmaster.ts';
import { sendSignal } from './processes.ts';

const lockWaitMaxMs = 10_000;

/**
 * `exclusive` is true for serve, work and all, of which only one may run on a data directory, and false for other commands.
 * `log` receives human-readable lines without a line end. `settings` are extra PostgreSQL settings for a server that this call starts.
 */
export type EmbeddedPostgresOptions = {
  dataDir: string;
  exclusive: boolean;
  log: (line: string) => void;
  settings?: ServerSettings;
};

/**
 * `url` contains the password and stays the same while this process uses the server. `location` is the database folder.
 * `origin`: a new server was started, one left behind by a dead process was adopted, or one used by others was joined.
 */
export type EmbeddedPostgres = {
  url: string;
  location: string;
  origin: 'started' | 'adopted' | 'joined';
  stop: () => Promise<void>;
};

/**
 * Starts, joins or adopts the PostgreSQL server of a data directory and restarts it at the same address if it dies. `stop` stops it
 * unless other processes still use it; the last of them does. Throws an explanation if that is not possible: a second exclusive owner,
 * no binaries for this system, files of another user or version, or a server that does not start.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { dataDir, lockDir } = prepareDataDir(options.dataDir);
  const owner = options.exclusive ? await takeOwnership(dataDir, lockDir) : undefined;
  try {
    return await enterServer({ ...options, dataDir, lockDir }, owner);
  } catch (error) {
    owner?.release();
    throw error;
  }
}

type EnterOptions = EmbeddedPostgresOptions & { lockDir: string };

async function enterServer(options: EnterOptions, owner: FileLock | undefined): Promise<EmbeddedPostgres> {
  const { dataDir, settings = {} } = options;
  const log = (line: string): void => options.log(`PostgreSQL: ${line}`);
  const usage = openServerUsage(options.lockDir);
  const { server, origin } = await usage.withLifecycleLock(async () => {
    const isUsed = usage.isUsed();
    const found = await ensureServer({ dataDir, isUsed, settings, log });
    usage.join();
    return { server: found, origin: originOf(found, isUsed) };
  });
  log(`${origin} in ${server.location} (pid ${server.pid}, ${isSocket(server) ? 'socket' : `port ${server.port}`})`);
  const restartRequest = { dataDir, isUsed: true, requiredAddress: server, settings, log };
  const supervisor = superviseServer(server, log, () => usage.withLifecycleLock(() => ensureServer(restartRequest)));
  const onExit = (): void => releaseServerOnExit(usage, server);
  process.once('exit', onExit);
  const leave = async (): Promise<void> => {
    process.off('exit', onExit);
    await supervisor.stop();
    await releaseServer(usage, server, log).finally(() => owner?.release());
  };
  let leaving: Promise<void> | undefined;
  return { url: server.url, location: server.location, origin, stop: () => (leaving ??= leave()) };
}

function originOf(server: Server, isUsed: boolean): EmbeddedPostgres['origin'] {
  if (server.isNew) return 'started';
  return isUsed ? 'joined' : 'adopted';
}

/** Ends this process's use of the server and stops the server if no other process uses it. A server that has already ended is not an error. */
async function releaseServer(usage: ServerUsage, { cluster }: Server, log: (line: string) => void): Promise<void> {
  try {
    await usage.withLifecycleLock(async () => {
      usage.leave();
      if (usage.isUsed()) return log('left running because another process uses it');
      const running = findPostmaster(cluster);
      if (running) await haltPostmaster(running.pid);
    }, lockWaitMaxMs);
  } finally {
    usage.leave();
  }
}

/** Like `releaseServer`, for a process that exits without `stop`: signals the server without waiting for its end. */
function releaseServerOnExit(usage: ServerUsage, { cluster }: Server): void {
  usage.tryLifecycleLock(() => {
    usage.leave();
    const running = usage.isUsed() ? undefined : findPostmaster(cluster);
    if (running) sendSignal(running.pid, 'SIGINT');
  });
}
