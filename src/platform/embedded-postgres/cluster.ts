import { createHash, randomBytes } from 'node:crypto';
import { chownSync, mkdtempSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { loopback } from './address.ts';
import { type Binaries, findBinaries } from './binaries.ts';
import { readText, removeTree, renameDurably, writeDurably } from './data-dir/durable-files.ts';
import { chooseLocation, findLocation, recordLocation, removeHome } from './data-dir/location.ts';
import { run } from './os/run-program.ts';
import { type ServerUser, findAccount, findServerUser } from './os/server-user.ts';

/** A database folder. `name` stands in the command line of each of its processes, which tells them from any other PostgreSQL. */
export type Cluster = { dataDir: string; location: string; name: string; user: ServerUser | undefined };

const rules = `local all all scram-sha-256\nhost all all ${loopback}/32 scram-sha-256\n`;

/** The database of the data directory, made new where there is none. Call it only while holding the turn. */
export async function openCluster(dataDir: string, log: (line: string) => void): Promise<Cluster> {
  const existing = findCluster(dataDir);
  if (existing) return existing;
  const user = findServerUser();
  const location = chooseLocation(dataDir, user);
  log(`making a new database in ${location}`);
  const cluster = { dataDir, location, name: nameOf(location), user };
  try {
    await createFiles(cluster);
    recordLocation(dataDir, location);
  } catch (error) {
    // Each further start would leave another.
    removeHome(location);
    throw error;
  }
  return cluster;
}

function findCluster(dataDir: string): Cluster | undefined {
  const location = findLocation(dataDir);
  if (!location) return undefined;
  const { uid, gid } = statSync(location);
  const own = process.getuid?.() ?? uid;
  if (own !== uid && own !== 0) {
    throw new Error(
      `The database in ${location} belongs to ${findAccount(uid, gid).name}: start as that user or as root.`,
    );
  }
  if (uid === 0)
    throw new Error(
      `The database in ${location} belongs to root, as whom PostgreSQL does not run: give it to nobody (chown -R).`,
    );
  return { dataDir, location, name: nameOf(location), user: own === 0 ? findAccount(uid, gid) : undefined };
}

function nameOf(location: string): string {
  return `tocsin-${createHash('sha256').update(location).digest('hex').slice(0, 16)}`;
}

/** The programs for a cluster; throws where its files were made by another major version. */
export function binariesFor(cluster: Cluster): Binaries {
  const binaries = findBinaries(dirname(cluster.location), cluster.user);
  const made = readText(join(cluster.location, 'PG_VERSION'));
  if (made === binaries.major) return binaries;
  throw new Error(
    `The database in ${cluster.location} was made by PostgreSQL ${made}, the one here is ${binaries.major}: dump it with the old release and load it with this one.`,
  );
}

/** Builds the files beside their place and renames them last: what has the name `pg` is whole and on disk. */
async function createFiles({ dataDir, location, user }: Cluster): Promise<void> {
  const home = dirname(location);
  const prefix = `${basename(location)}.new-`;
  for (const name of readdirSync(home)) if (name.startsWith(prefix)) removeTree(join(home, name));
  const folder = mkdtempSync(join(home, prefix));
  if (user) chownSync(folder, user.uid, user.gid);
  const binaries = findBinaries(home, user);
  // The built-in locale sorts by code point on every system, so that an upgrade of its libc cannot break an index.
  const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
  await run(
    binaries.initdb,
    ['-D', folder, '-U', 'tocsin', '--auth=trust', '--no-sync', '--no-instructions', ...locale],
    { user },
  );
  writeRules(folder);
  const password = findPassword(dataDir) ?? newPassword();
  await runAlone(binaries, ['CREATE DATABASE tocsin', setPassword(password)], { folder, user, options: ['-F'] });
  keepPassword(dataDir, password);
  await run(binaries.initdb, ['-D', folder, '--sync-only'], { user });
  renameDurably(folder, location);
}

/** Who comes in by what; before each start, since databases of earlier releases know no socket. */
export function writeRules(folder: string): void {
  writeFileSync(join(folder, 'pg_hba.conf'), rules);
}

/** Gives the superuser a new password where the file that holds it was lost. The server must not run. */
export async function ensurePassword({ dataDir, location, user }: Cluster, binaries: Binaries): Promise<string> {
  const known = findPassword(dataDir);
  if (known) return known;
  const password = newPassword();
  await runAlone(binaries, [setPassword(password)], { folder: location, user, options: [] });
  keepPassword(dataDir, password);
  return password;
}

export function findPassword(dataDir: string): string | undefined {
  return readText(passwordFile(dataDir));
}

function newPassword(): string {
  return randomBytes(24).toString('base64url');
}

/** Kept only once the server has it: a file with a password that was never set would lock us out. */
function keepPassword(dataDir: string, password: string): void {
  writeDurably(passwordFile(dataDir), password, 0o600);
}

function passwordFile(dataDir: string): string {
  return join(dataDir, 'pg.password');
}

function setPassword(password: string): string {
  return `ALTER ROLE tocsin PASSWORD '${password}'`;
}

type Alone = { folder: string; user: ServerUser | undefined; options: string[] };

/** Single-user mode reads one statement a line and, unless told so, goes on after an error. */
function runAlone(binaries: Binaries, sql: string[], { folder, user, options }: Alone): Promise<void> {
  const args = [
    '--single',
    ...options,
    '-D',
    folder,
    '-c',
    'exit_on_error=on',
    '-c',
    'log_min_messages=fatal',
    'template1',
  ];
  return run(binaries.postgres, args, { user, input: sql.map((each) => `${each};\n`).join('') });
}
