import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

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

/** The account that PostgreSQL runs as if this process is root, since PostgreSQL refuses to run as root. */
export type ServerUser = { name: string; uid: number; gid: number };

const passwdFile = '/etc/passwd';

/** Returns the account `nobody` if this process is root, else undefined: the server then runs as the current user. */
export function findServerUser(): ServerUser | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const user = accounts().find((each) => each.name === 'nobody');
  if (!user) throw new Error(`PostgreSQL does not run as root, and ${passwdFile} has no user "nobody" to run it as.`);
  return user;
}

/** Returns the account with this uid, or one with a placeholder name. */
export function findAccount(uid: number, gid: number): ServerUser {
  return accounts().find((each) => each.uid === uid) ?? { name: `user ${uid}`, uid, gid };
}

function accounts(): ServerUser[] {
  return parsePasswd(readFileSync(passwdFile, 'utf8'));
}

/** Parses passwd(5) text. Negative ids (nobody is -2 on macOS) become the unsigned ids that `stat` returns. */
export function parsePasswd(text: string): ServerUser[] {
  return text.split('\n').flatMap((line) => {
    const [name, , uid, gid] = line.split(':');
    if (!name || name.startsWith('#') || !uid || !gid) return [];
    return [{ name, uid: Number(uid) >>> 0, gid: Number(gid) >>> 0 }];
  });
}

/** Returns the child_process options to run as the user. Node expects signed ids. */
export function spawnCredentials(user: ServerUser | undefined): { uid?: number; gid?: number } {
  return user ? { uid: user.uid | 0, gid: user.gid | 0 } : {};
}

/** Returns whether the user can enter a folder, by trying it as that user. Mode bits alone would miss ACLs and security modules. */
export function canEnter(folder: string, user: ServerUser): boolean {
  const result = spawnSync('/bin/sh', ['-c', 'cd "$1"', 'sh', folder], {
    ...spawnCredentials(user),
    cwd: '/',
    stdio: 'ignore',
  });
  return result.status === 0;
}
