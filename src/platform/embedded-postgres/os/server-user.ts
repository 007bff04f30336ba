import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

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
