import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { EmbeddedPostgres } from '../../../src/platform/embedded-postgres/embedded-postgres.ts';
import { readTextFile, removeTree } from '../../../src/platform/embedded-postgres/durable-files.ts';
import { isRunning, listProcesses, waitUntil } from '../../../src/platform/embedded-postgres/processes.ts';
import { getTestDir } from '../test-dir.ts';
import { type ServerUser, spawnCredentials } from '../../../src/platform/embedded-postgres/run-program.ts';

const cache = getTestDir();
const module = new URL('../../../src/platform/embedded-postgres/embedded-postgres.ts', import.meta.url).href;

/** A program that uses the database until its standard input ends. On `exit` it exits without stopping the database. */
const program = `
const { startEmbeddedPostgres } = await import(${JSON.stringify(module)});
const [dataDir, exclusive] = process.argv.slice(1);
const say = (value) => process.stdout.write(JSON.stringify(value) + '\\n');
try {
  const { url, location, origin, stop } = await startEmbeddedPostgres({ dataDir, exclusive: exclusive === 'true', log: () => {} });
  say({ url, location, origin });
  process.stdin.on('data', () => process.exit(0));
  process.stdin.on('end', () => stop().then(() => process.exit(0)));
} catch (error) {
  say({ refused: error.message });
  process.exit(1);
}`;

export type Holder = Omit<EmbeddedPostgres, 'stop'> & {
  pid: number;
  process: ChildProcess;
  leave: () => Promise<void>;
};
export type Refused = { refused: string };

/** Creates a data directory with `mkdtemp`, accessible to its user only. `removeDataDirs` removes it. */
export function newDataDir(user?: ServerUser, parent = cache): string {
  mkdirSync(parent, { recursive: true });
  const dataDir = mkdtempSync(join(parent, 'embedded-'));
  if (user) chownSync(dataDir, user.uid, user.gid);
  chmodSync(dataDir, 0o700);
  made.push(dataDir);
  return dataDir;
}

const made: string[] = [];
const homes = new Set<string>();
const holders: ChildProcess[] = [];

/** Kills every process that a failed test may have left. */
export async function killAllHolders(): Promise<void> {
  for (const holder of holders.splice(0)) holder.kill('SIGKILL');
  for (const dataDir of made) {
    for (const { pid } of findPostmasters(dataDir)) process.kill(pid, 'SIGKILL');
    await waitUntil(() => findPostmasters(dataDir).length === 0, 5_000);
  }
}

/** Kills all processes and removes the data directories and the homes of their databases. */
export async function removeDataDirs(): Promise<void> {
  await killAllHolders();
  for (const home of homes) removeTree(home);
  for (const dataDir of made.splice(0)) removeTree(dataDir);
  for (const parent of new Set([...homes].map((home) => dirname(home)))) removeEmpty(parent);
  homes.clear();
}

/** Registers a database outside the data directories for removal. */
export function registerHome(location: string): void {
  const home = dirname(location);
  if (!home.startsWith(cache)) homes.add(home);
}

function removeEmpty(folder: string): void {
  if (existsSync(folder) && readdirSync(folder).length === 0) rmdirSync(folder);
}

/** Returns the postmasters of the data directory. */
export function findPostmasters(dataDir: string): { pid: number }[] {
  const location = readTextFile(join(dataDir, 'location')) ?? join(dataDir, 'pg');
  registerHome(location);
  return listProcesses().filter(({ command }) => command.includes(`postgres -D ${location} `));
}

/** Starts another process that starts, joins or adopts the server, or is rejected. */
export async function holdElsewhere(dataDir: string, exclusive: boolean, user?: ServerUser): Promise<Holder | Refused> {
  const args = ['--input-type=module', '-e', program, dataDir, String(exclusive)];
  const child = spawn(process.execPath, args, { ...spawnCredentials(user), stdio: ['pipe', 'pipe', 'inherit'] });
  holders.push(child);
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  const said = JSON.parse(line) as Omit<EmbeddedPostgres, 'stop'> | Refused;
  if ('refused' in said) return said;
  const leave = async (): Promise<void> => {
    child.stdin.end();
    if (child.exitCode === null) await once(child, 'exit');
  };
  return { ...said, pid: child.pid!, process: child, leave };
}

/** Like `holdElsewhere`, but a rejection fails the test. */
export async function holdOrThrow(dataDir: string, exclusive: boolean, user?: ServerUser): Promise<Holder> {
  const holder = await holdElsewhere(dataDir, exclusive, user);
  if ('refused' in holder) throw new Error(holder.refused);
  return holder;
}

export async function killHard(pid: number): Promise<void> {
  process.kill(pid, 'SIGKILL');
  if (!(await waitUntil(() => !isRunning(pid), 5_000))) throw new Error(`process ${pid} survived SIGKILL`);
}
