import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

export type Process = { pid: number; command: string };

const hasProc = existsSync('/proc/self/cmdline');

/** Whether the process lives. A zombie that nobody collects (a container without an init) counts as gone. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  return !hasProc || !isZombie(pid);
}

function isZombie(pid: number): boolean {
  // The name in parentheses may itself hold parentheses and blanks, so the state is looked for after the last one.
  const stat = readOr(`/proc/${pid}/stat`, '');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  // The first thread may be dead while others still hold the files and locks of the process.
  return stat === '' || (/[ZX]/.test(fields[0]!) && Number(fields[17]) <= 1);
}

/** The command line of a process with blanks between the arguments, '' where it is gone. */
export function commandOf(pid: number): string {
  if (hasProc) return readOr(`/proc/${pid}/cmdline`, '').replaceAll('\0', ' ').trim();
  return listProcesses().find((each) => each.pid === pid)?.command ?? '';
}

/** Every process that this user may see. */
export function listProcesses(): Process[] {
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

/** Sends a signal; a process that is already gone is no error. */
export function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Polls until `condition` holds; false once `maxMs` have passed without it. */
export async function waitUntil(condition: () => boolean, maxMs: number, stepMs = 20): Promise<boolean> {
  for (const start = performance.now(); !condition(); await sleep(stepMs)) {
    if (performance.now() - start > maxMs) return false;
  }
  return true;
}

function readOr(file: string, otherwise: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return otherwise;
  }
}
