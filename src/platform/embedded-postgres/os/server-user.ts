import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** The account that PostgreSQL runs as where we are root, which it refuses. */
export type ServerUser = { name: string; uid: number; gid: number };

const passwdFile = '/etc/passwd';

/** `nobody` where this process is root, undefined for a plain user, who runs the server as himself. */
export function findServerUser(): ServerUser | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const user = accounts().find((each) => each.name === 'nobody');
  if (!user) throw new Error(`PostgreSQL does not run as root, and ${passwdFile} has no user "nobody" to run it as.`);
  return user;
}

/** The account with this number, or one without a name. */
export function findAccount(uid: number, gid: number): ServerUser {
  return accounts().find((each) => each.uid === uid) ?? { name: `user ${uid}`, uid, gid };
}

function accounts(): ServerUser[] {
  return parsePasswd(readFileSync(passwdFile, 'utf8'));
}

/** The accounts of a passwd(5) text. Negative numbers (macOS: nobody is -2) become the unsigned ones of `stat`. */
export function parsePasswd(text: string): ServerUser[] {
  return text.split('\n').flatMap((line) => {
    const [name, , uid, gid] = line.split(':');
    if (!name || name.startsWith('#') || !uid || !gid) return [];
    return [{ name, uid: Number(uid) >>> 0, gid: Number(gid) >>> 0 }];
  });
}

/** What child_process needs to run as that user: signed numbers. */
export function credentials(user: ServerUser | undefined): { uid?: number; gid?: number } {
  return user ? { uid: user.uid | 0, gid: user.gid | 0 } : {};
}

/** Asks the system itself, as that user: mode bits alone would miss ACLs and security modules. */
export function canEnter(folder: string, user: ServerUser): boolean {
  const result = spawnSync('/bin/sh', ['-c', 'cd "$1"', 'sh', folder], {
    ...credentials(user),
    cwd: '/',
    stdio: 'ignore',
  });
  return result.status === 0;
}
