import { spawn } from 'node:child_process';
import { type ServerUser, spawnCredentials } from './server-user.ts';

const runMaxMs = 300_000;
const outputMaxChars = 100_000;

/** The complete environment of PostgreSQL programs. A stray PGDATA, LD_LIBRARY_PATH or locale would change their behavior. */
export const serverEnv = { PATH: '/usr/bin:/bin:/usr/sbin:/sbin', LC_ALL: 'C', TZ: 'UTC' };

/** Runs a program as the server's user with `input` on its standard input. Rejects with the end of its output if it fails. */
export function runProgram(
  file: string,
  args: string[],
  options: { user: ServerUser | undefined; input?: string },
): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { ...spawnCredentials(options.user), cwd: '/', env: serverEnv, timeout: runMaxMs });
    let output = '';
    const appendOutput = (chunk: Buffer): void => {
      output = (output + chunk.toString()).slice(-outputMaxChars);
    };
    child.stdout.on('data', appendOutput);
    child.stderr.on('data', appendOutput);
    child.stdin.on('error', () => {});
    child.stdin.end(options.input ?? '');
    child.once('error', (error) => reject(new Error(`${file} cannot be run: ${error.message}`)));
    child.once('close', (code, signal) => {
      if (code === 0) resolve();
      else reject(new Error(`${file} failed (${signal ?? code}): ${lastLines(output)}`));
    });
  });
}

/** Returns the last six lines of a program's output, joined to one line. */
export function lastLines(output: string): string {
  return output.trim().split('\n').slice(-6).join(' | ');
}
