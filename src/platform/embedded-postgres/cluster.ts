import { createHash, randomBytes } from 'node:crypto';
import { chownSync, mkdtempSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { loopback } from './address.ts';
import { type Binaries, findBinaries, findPackage } from './binaries.ts';
import { readTextFile, removeTree, renameDurably, writeDurably } from './durable-files.ts';
import { chooseLocation, findLocation, recordLocation, removeHome } from './data-dir.ts';
import { runProgram, type ServerUser, canEnter, findAccount, findServerUser } from './run-program.ts';

/** A database folder. `name` appears in the command line of each of its processes and identifies them. */
export type Cluster = { dataDir: string; location: string; name: string; user: ServerUser | undefined };

const accessRules = `local all all scram-sha-256\nhost all all ${loopback}/32 scram-sha-256\n`;

/** Finds or creates the database of the data directory. The caller must hold the lifecycle lock. */
export async function openCluster(dataDir: string, log: (line: string) => void): Promise<Cluster> {
  const existing = findCluster(dataDir);
  if (existing) return existing;
  const user = findServerUser();
  const location = chooseLocation(dataDir, user, user && !canEnter(findPackage().native, user));
  log(`creating a new database in ${location}`);
  const cluster = { dataDir, location, name: clusterName(location), user };
  try {
    await createFiles(cluster);
    recordLocation(dataDir, location);
  } catch (error) {
    // Otherwise every failed start would leave another folder behind.
    removeHome(location);
    throw error;
  }
  return cluster;
}

function findCluster(dataDir: string): Cluster | undefined {
  const location = findLocation(dataDir);
  if (!location) return undefined;
  const { uid, gid } = statSync(location);
  const processUid = process.getuid?.() ?? uid;
  if (processUid !== uid && processUid !== 0) {
    throw new Error(
      `The database in ${location} belongs to ${findAccount(uid, gid).name}. Start as that user or as root.`,
    );
  }
  if (uid === 0)
    throw new Error(
      `The database in ${location} belongs to root, but PostgreSQL does not run as root. Change the owner to nobody (chown -R).`,
    );
  return { dataDir, location, name: clusterName(location), user: processUid === 0 ? findAccount(uid, gid) : undefined };
}

function clusterName(location: string): string {
  return `tocsin-${createHash('sha256').update(location).digest('hex').slice(0, 16)}`;
}

/** Returns the programs for a cluster. Throws if another major version created its files. */
export function binariesFor(cluster: Cluster): Binaries {
  const binaries = findBinaries(dirname(cluster.location), cluster.user);
  const clusterMajor = readTextFile(join(cluster.location, 'PG_VERSION'));
  if (clusterMajor === binaries.major) return binaries;
  throw new Error(
    `The database in ${cluster.location} was created by PostgreSQL ${clusterMajor}, but this release contains PostgreSQL ${binaries.major}. Dump it with the old release and load it with this one.`,
  );
}

/** Creates the files in a temporary folder and renames it last, so that the final folder is always complete and on disk. */
async function createFiles({ dataDir, location, user }: Cluster): Promise<void> {
  const home = dirname(location);
  const prefix = `${basename(location)}.new-`;
  for (const name of readdirSync(home)) if (name.startsWith(prefix)) removeTree(join(home, name));
  const folder = mkdtempSync(join(home, prefix));
  if (user) chownSync(folder, user.uid, user.gid);
  const binaries = findBinaries(home, user);
  // The built-in locale sorts by code point on every system, so that a libc upgrade cannot break an index.
  const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
  await runProgram(
    binaries.initdb,
    ['-D', folder, '-U', 'tocsin', '--auth=trust', '--no-sync', '--no-instructions', ...locale],
    { user },
  );
  writeAccessRules(folder);
  const password = findPassword(dataDir) ?? newPassword();
  await runSingleUser(binaries, ['CREATE DATABASE tocsin', setPasswordSql(password)], {
    folder,
    user,
    options: ['-F'],
  });
  savePassword(dataDir, password);
  await runProgram(binaries.initdb, ['-D', folder, '--sync-only'], { user });
  renameDurably(folder, location);
}

/** Writes pg_hba.conf before each start, because databases of earlier releases do not allow the socket. */
export function writeAccessRules(folder: string): void {
  writeFileSync(join(folder, 'pg_hba.conf'), accessRules);
}

/** Sets a new password for the superuser if the password file was lost. The server must not be running. */
export async function ensurePassword({ dataDir, location, user }: Cluster, binaries: Binaries): Promise<void> {
  if (findPassword(dataDir)) return;
  const password = newPassword();
  await runSingleUser(binaries, [setPasswordSql(password)], { folder: location, user, options: [] });
  savePassword(dataDir, password);
}

export function findPassword(dataDir: string): string | undefined {
  return readTextFile(passwordFile(dataDir));
}

function newPassword(): string {
  return randomBytes(24).toString('base64url');
}

/** Saves a password that the server already has. A file with a password that was never set would lock us out. */
function savePassword(dataDir: string, password: string): void {
  writeDurably(passwordFile(dataDir), password, 0o600);
}

function passwordFile(dataDir: string): string {
  return join(dataDir, 'pg.password');
}

function setPasswordSql(password: string): string {
  return `ALTER ROLE tocsin PASSWORD '${password}'`;
}

type SingleUserOptions = { folder: string; user: ServerUser | undefined; options: string[] };

/** Runs statements in single-user mode, which reads one per line and by default continues after an error. */
function runSingleUser(binaries: Binaries, sql: string[], { folder, user, options }: SingleUserOptions): Promise<void> {
  const settings = ['-c', 'exit_on_error=on', '-c', 'log_min_messages=fatal'];
  const args = ['--single', ...options, '-D', folder, ...settings, 'template1'];
  return runProgram(binaries.postgres, args, { user, input: sql.map((statement) => `${statement};\n`).join('') });
}
