import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { startEmbeddedPostgres } from '../platform/embedded-postgres/embedded-postgres.ts';
import { removeHome } from '../platform/embedded-postgres/data-dir.ts';

const parent = '.tocsin-demo';
const ownerFile = 'demo.pid';

/** Creates a new data directory for this demo and removes those of demos that have ended. */
export async function createDemoDir(): Promise<string> {
  mkdirSync(parent, { recursive: true });
  for (const name of readdirSync(parent)) await removeIfEnded(resolve(parent, name));
  const dir = resolve(parent, new Date().toISOString().replaceAll(/[:.]/g, '-'));
  mkdirSync(dir);
  writeFileSync(join(dir, ownerFile), String(process.pid));
  return dir;
}

async function removeIfEnded(dir: string): Promise<void> {
  if (isAlive(readOwner(dir))) return;
  // A killed demo may have left its PostgreSQL running. Joining and leaving it stops it.
  const leftover = await startEmbeddedPostgres({ dataDir: dir, exclusive: false, log: () => undefined }).catch(
    () => undefined,
  );
  await leftover?.stop();
  removeDemoDir(dir, leftover?.location);
}

/** Removes a demo's directory, and its database if that is elsewhere. */
export function removeDemoDir(dir: string, location: string | undefined): void {
  if (location) removeHome(location);
  rmSync(dir, { recursive: true, force: true });
}

function readOwner(dir: string): number {
  try {
    return Number(readFileSync(join(dir, ownerFile), 'utf8'));
  } catch {
    return Number.NaN;
  }
}

function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
