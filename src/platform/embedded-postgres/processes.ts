import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

export type ProcessInfo = { pid: number; command: string };

const hasProc = existsSync('/proc/self/cmdline');

/** Returns whether a process is running. A zombie counts as ended, since a container without an init never reaps it. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  return !hasProc || !isZombie(pid);
}

function isZombie(pid: number): boolean {
  // The name in parentheses may itself contain parentheses and blanks, so the fields start after the last parenthesis.
  const stat = readFileOr(`/proc/${pid}/stat`, '');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  // The main thread may have ended while other threads still hold the files and locks of the process.
  return stat === '' || (/[ZX]/.test(fields[0]!) && Number(fields[17]) <= 1);
}

/** Returns the command line of a process with blanks between the arguments, or '' if it has ended. */
export function commandOf(pid: number): string {
  if (hasProc) return readFileOr(`/proc/${pid}/cmdline`, '').replaceAll('\0', ' ').trim();
  return listProcesses().find((each) => each.pid === pid)?.command ?? '';
}

/** Lists the processes that are visible to this user. */
export function listProcesses(): ProcessInfo[] {
  if (hasProc) {
    const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
    return pids.map((name) => ({ pid: Number(name), command: commandOf(Number(name)) }));
  }
  const lines = execFileSync('ps', ['-axwwo', 'pid=,command='], { encoding: 'utf8', maxBuffer: 1 << 26 }).split('\n');
  return lines.flatMap((line) => {
    const match = /^\s*(\d+)\s+(.*)$/.exec(line);
    return match ? [{ pid: Number(match[1]), command: match[2]! }] : [];
  });
}

/** Sends a signal. A process that has already ended is not an error. */
export function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Polls until `condition` is true. Returns false after `maxMs`. */
export async function waitUntil(condition: () => boolean, maxMs: number, stepMs = 20): Promise<boolean> {
  for (const start = performance.now(); !condition(); await sleep(stepMs)) {
    if (performance.now() - start > maxMs) return false;
  }
  return true;
}

function readFileOr(file: string, fallback: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return fallback;
  }
}
