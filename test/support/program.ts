import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readTextFile } from '../../src/platform/embedded-postgres/durable-files.ts';
import { removeHome } from '../../src/platform/embedded-postgres/data-dir.ts';
import { getTestDir } from './test-dir.ts';

export const root = resolve(import.meta.dirname, '../..');
const entry = join(root, 'bin/tocsin.mjs');
/** Long, because a first start creates a database, which takes a minute on a busy machine. */
const startMaxMs = 300_000;

export type Program = {
  pid: number;
  url: string;
  /** Output so far, of both streams. */
  output: () => string;
  hasEnded: () => boolean;
  /** Sends a signal and returns the exit code, or the signal that ended the program. */
  kill: (signal: NodeJS.Signals) => Promise<number | string>;
};

type Env = Record<string, string>;

/**
 * Starts the program as a real process and returns when it listens. `command` is a command with its options. Throws with the program's output
 * if it exits earlier.
 */
export async function startProgram(dataDir: string, env: Env = {}, command = 'all', file = entry): Promise<Program> {
  // The option of `npm start`.
  const child = spawn(process.execPath, ['--max-semi-space-size=16', file, ...command.split(' ')], {
    cwd: dataDir,
    env: environment(dataDir, env),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const program = { ...watch(child), pid: child.pid ?? 0 };
  const address = command.startsWith('work') ? /Working/ : /listens on (http:\S+)/;
  const url = await until(
    () => address.exec(program.output()),
    () => `the program does not come up:\n${program.output()}`,
    program.hasEnded,
    startMaxMs,
  );
  return { ...program, url: url[1] ?? '' };
}

function watch(child: ChildProcess): Pick<Program, 'output' | 'hasEnded' | 'kill'> {
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const ended = new Promise<number | string>((done) =>
    child.once('exit', (code, signal) => done(code ?? signal ?? 'unknown')),
  );
  const kill = (signal: NodeJS.Signals): Promise<number | string> => {
    child.kill(signal);
    return ended;
  };
  return { output: () => text, hasEnded: () => child.exitCode !== null || child.signalCode !== null, kill };
}

/** Runs a command of the program until it exits. */
export function runProgram(
  args: string[],
  dataDir: string,
  env: Env = {},
  node = process.execPath,
): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((done) => {
    const options = { cwd: dataDir, env: environment(dataDir, env), timeout: 180_000 };
    execFile(node, [entry, ...args], options, (error, stdout, stderr) =>
      done({ code: error ? Number(error.code ?? -1) : 0, stdout, stderr }),
    );
  });
}

/** Returns what a process needs of this one's environment. Without the cache of compiled code it would start twice as long. */
export const pickEnvironment = (): Record<string, string> =>
  Object.fromEntries(
    ['PATH', 'NODE_COMPILE_CACHE'].flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])),
  );

/** Returns an environment without this process's own settings. */
function environment(dataDir: string, env: Env): Env {
  const kept = Object.entries(process.env).filter(
    ([name]) => !name.startsWith('TOCSIN_') && !['DATABASE_URL', 'PORT', 'HOST', 'NODE_OPTIONS'].includes(name),
  );
  return {
    ...(Object.fromEntries(kept) as Env),
    PORT: '0',
    TOCSIN_DATA_DIR: dataDir,
    TOCSIN_LOG_LEVEL: 'warn',
    ...env,
  };
}

/** Creates a data directory for a program, which the caller removes. It is not in a temporary directory, because the server's user must be able to enter it. */
export const newProgramDir = (): string => mkdtempSync(join(getTestDir(), 'program-'));

/** Creates a directory in the checkout, so that programs in it find the installed packages. The caller removes it. */
export function newProjectDir(): string {
  const parent = join(root, 'node_modules/.cache/tocsin-test');
  mkdirSync(parent, { recursive: true });
  return mkdtempSync(join(parent, 'project-'));
}

/** Removes a program's data, and its database if that is elsewhere. `dir` is the data directory or contains `.tocsin`. */
export function removeProgramDir(dir: string): void {
  for (const dataDir of [dir, join(dir, '.tocsin')]) {
    const location = readTextFile(join(dataDir, 'location'));
    if (location) removeHome(location);
  }
  rmSync(dir, { recursive: true, force: true });
}

/**
 * Polls until `ask` returns a value, less often the longer it waits. Throws the message of `failure` after `maxMs`, or when `hasEnded` returns
 * true.
 */
export async function until<T>(
  ask: () => T | Promise<T>,
  failure: () => string,
  hasEnded: () => boolean = () => false,
  maxMs = 90_000,
): Promise<NonNullable<T>> {
  const start = performance.now();
  while (performance.now() < start + maxMs) {
    const answer = await ask();
    if (answer) return answer;
    if (hasEnded()) break;
    await sleep(Math.min(20 + (performance.now() - start) / 50, 200));
  }
  throw new Error(failure());
}

export type ProcessRow = { pid: number; parent: number; command: string };

/** Returns the descendants of `pid`, deepest last. */
export function descendantsOf(pid: number): ProcessRow[] {
  const all = listProcesses();
  const found: ProcessRow[] = [];
  const open = [pid];
  for (let next = open.shift(); next !== undefined; next = open.shift()) {
    const children = all.filter(({ parent }) => parent === next);
    found.push(...children);
    open.push(...children.map((child) => child.pid));
  }
  return found;
}

export function listProcesses(): ProcessRow[] {
  return existsSync('/proc/self/stat') ? fromProc() : fromPs();
}

function fromProc(): ProcessRow[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.flatMap((name) => {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      const command = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
      // A zombie does not count as a process.
      return state === 'Z' ? [] : [{ pid: Number(name), parent: Number(parent), command }];
    } catch {
      return [];
    }
  });
}

function fromPs(): ProcessRow[] {
  const text = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,args='], { encoding: 'utf8' });
  return [...text.matchAll(/^\s*(\d+)\s+(\d+)\s+(.*)$/gm)].map(([, pid, parent, command = '']) => ({
    pid: Number(pid),
    parent: Number(parent),
    command,
  }));
}
