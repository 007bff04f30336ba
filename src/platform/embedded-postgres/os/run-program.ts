import { spawn } from 'node:child_process';
import { type ServerUser, credentials } from './server-user.ts';

const runMaxMs = 300_000;
const outputMaxChars = 100_000;

/** Nothing of our environment reaches the server: a stray PGDATA, LD_LIBRARY_PATH or locale would change what it does. */
export const serverEnv = { PATH: '/usr/bin:/bin:/usr/sbin:/sbin', LC_ALL: 'C', TZ: 'UTC' };

/** Runs a program to its end as the server's user, with `input` on its standard input. Rejects with the end of what it wrote. */
export function run(
  file: string,
  args: string[],
  options: { user: ServerUser | undefined; input?: string },
): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { ...credentials(options.user), cwd: '/', env: serverEnv, timeout: runMaxMs });
    let output = '';
    const keep = (chunk: Buffer): void => {
      output = (output + chunk.toString()).slice(-outputMaxChars);
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    child.stdin.on('error', () => {});
    child.stdin.end(options.input ?? '');
    child.once('error', (error) => reject(new Error(`${file} cannot be run: ${error.message}`)));
    child.once('close', (code, signal) => {
      if (code === 0) resolve();
      else reject(new Error(`${file} failed (${signal ?? code}): ${lastLines(output)}`));
    });
  });
}

/** The last lines of a program's output on one line. */
export function lastLines(output: string): string {
  return output.trim().split('\n').slice(-6).join(' | ');
}
