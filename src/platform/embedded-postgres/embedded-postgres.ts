import { isSocket } from './address.ts';
import type { FileLock } from './data-dir/file-lock.ts';
import { prepareDataDir } from './data-dir/location.ts';
import { takeOwnership } from './data-dir/owner.ts';
import { abandonServer, leaveServer } from './release.ts';
import { type Server, ensureServer } from './server/server.ts';
import type { Settings } from './server/server-settings.ts';
import { supervise } from './server/supervisor.ts';
import { usersOf } from './data-dir/users.ts';

/**
 * `exclusive`: for serve, work and all, of which one may run on a data directory; a command leaves it false.
 * `log` gets lines for people, without a line end. `settings`: extra PostgreSQL settings for a server that this call starts.
 */
export type EmbeddedOptions = { dataDir: string; exclusive: boolean; log: (line: string) => void; settings?: Settings };

/**
 * `url` holds the password and stays the same for as long as this process uses the server. `location` is the database folder.
 * `how`: a new server was started, one that a dead process left behind was adopted, or one that others use was joined.
 */
export type Embedded = {
  url: string;
  location: string;
  how: 'started' | 'adopted' | 'joined';
  stop: () => Promise<void>;
};

/**
 * Starts, joins or adopts the PostgreSQL child of a data directory and restarts it at the same address should it die.
 * `stop` ends it unless other processes still use it: then the last of them does. Throws one sentence where it cannot be had:
 * a second exclusive owner, no binaries for this system, files of another user or version, a server that does not start.
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<Embedded> {
  const { dataDir, lockDir } = prepareDataDir(options.dataDir);
  const owner = options.exclusive ? await takeOwnership(dataDir, lockDir) : undefined;
  try {
    return await enter({ ...options, dataDir, lockDir }, owner);
  } catch (error) {
    owner?.release();
    throw error;
  }
}

type Entry = EmbeddedOptions & { lockDir: string };

async function enter(options: Entry, owner: FileLock | undefined): Promise<Embedded> {
  const { dataDir, settings = {} } = options;
  const log = (line: string): void => options.log(`PostgreSQL: ${line}`);
  const users = usersOf(options.lockDir);
  const { server, how } = await users.takeTurn(async () => {
    const isUsed = users.isUsed();
    const found = await ensureServer({ dataDir, isUsed, settings, log });
    users.join();
    return { server: found, how: howOf(found, isUsed) };
  });
  log(`${how} in ${server.location} (pid ${server.pid}, ${isSocket(server) ? 'socket' : `port ${server.port}`})`);
  const again = { dataDir, isUsed: true, at: server, settings, log };
  const supervisor = supervise(server, log, () => users.takeTurn(() => ensureServer(again)));
  const onExit = (): void => abandonServer(users, server);
  process.once('exit', onExit);
  const leave = async (): Promise<void> => {
    process.off('exit', onExit);
    await supervisor.end();
    await leaveServer(users, server, log).finally(() => owner?.release());
  };
  let leaving: Promise<void> | undefined;
  return { url: server.url, location: server.location, how, stop: () => (leaving ??= leave()) };
}

function howOf(server: Server, isUsed: boolean): Embedded['how'] {
  if (server.isNew) return 'started';
  return isUsed ? 'joined' : 'adopted';
}
