import { readdir, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { acrossOrgs, inOrg } from '../../../platform/db/db.ts';
import { toOrgId, uuidPattern } from '../../../platform/lib/org-id.ts';
import { deleteSegmentAcrossOrgs, findListedPaths, listReplacedAcrossOrgs } from './compact.store.ts';
import { logFolderPath, type LogDeps } from '../log-folder.ts';

/** Longer than any query or upload takes. */
const defaultGraceMs = 15 * 60_000;

/** One step of the loop that keeps the folders tidy. Never finds more to do at once. */
export async function cleanSegments(deps: LogDeps): Promise<boolean> {
  await removeReplacedFiles(deps);
  await removeOrphanedFiles(deps);
  return false;
}

/** Removes files that compaction replaced, once no query can still be reading them. Answers how many. */
export async function removeReplacedFiles(deps: LogDeps, graceMs = defaultGraceMs): Promise<number> {
  const replaced = await acrossOrgs(deps.db, (tx) => listReplacedAcrossOrgs(tx, graceMs));
  for (const segment of replaced) {
    await unlink(join(logFolderPath(deps.config.dataDir, segment.orgId), segment.path)).catch(ignoreMissing);
    await acrossOrgs(deps.db, (tx) => deleteSegmentAcrossOrgs(tx, segment.orgId, segment.id));
  }
  return replaced.length;
}

/**
 * Removes files that were written and never listed: what a process left behind that was killed before it published. No answer ever called
 * their events accepted. Files younger than the grace may still be on their way. Answers how many.
 */
export async function removeOrphanedFiles(deps: LogDeps, graceMs = defaultGraceMs): Promise<number> {
  const root = join(deps.config.dataDir, 'logs');
  let removed = 0;
  for (const name of await entries(root)) {
    if (!uuidPattern.test(name)) continue;
    const id = toOrgId(name);
    const folder = logFolderPath(deps.config.dataDir, id);
    for (const dataset of await entries(folder)) {
      const old = await olderThan(join(folder, dataset), graceMs);
      const paths = old.map((file) => join(dataset, file));
      const listed = await inOrg(deps.db, id, (tx) => findListedPaths(tx, id, paths));
      for (const path of paths.filter((path) => !listed.has(path))) {
        await unlink(join(folder, path)).catch(ignoreMissing);
        removed += 1;
      }
    }
  }
  return removed;
}

async function olderThan(folder: string, graceMs: number): Promise<string[]> {
  const old: string[] = [];
  for (const name of await entries(folder)) {
    const found = await stat(join(folder, name)).catch(() => undefined);
    if (found?.isFile() && Date.now() - found.mtimeMs >= graceMs) old.push(name);
  }
  return old;
}

async function entries(folder: string): Promise<string[]> {
  return readdir(folder).catch(() => []);
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}
