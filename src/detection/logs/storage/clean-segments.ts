import { readdir, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { acrossOrgs, inOrg, type Db } from '../../../platform/db/db.ts';
import type { Logger } from '../../../platform/lib/logger.ts';
import { runLoop } from '../../../platform/lib/loop.ts';
import { toOrgId, uuidPattern, type OrgId } from '../../../platform/lib/org-id.ts';
import {
  deleteReplacedSegment,
  findListedPaths,
  listReplacedAcrossOrgs,
  listReplacedOfDataset,
} from './compact.store.ts';
import { logFolderPath } from '../log-folder.ts';

type CleanSegmentsDeps = { db: Db; config: { dataDir: string } };

/** Longer than any query or upload takes. */
const defaultGraceMs = 15 * 60_000;

/** Removes replaced and orphaned segment files, each after a grace period, until the signal aborts. */
export function cleanSegmentsLoop(deps: CleanSegmentsDeps & { log: Logger }, signal: AbortSignal): Promise<void> {
  return runLoop({ name: 'clean', idleMs: 10 * 60_000, signal, log: deps.log }, async () => {
    await removeReplacedFiles(deps);
    await removeOrphanedFiles(deps);
    return false;
  });
}

/** Removes files that compaction replaced, once no query can still be reading them. Returns the number of files. */
export async function removeReplacedFiles(deps: CleanSegmentsDeps, graceMs = defaultGraceMs): Promise<number> {
  const replaced = await acrossOrgs(deps.db, (tx) => listReplacedAcrossOrgs(tx, graceMs));
  for (const { orgId, ...segment } of replaced) {
    await unlink(join(logFolderPath(deps.config.dataDir, orgId), segment.path)).catch(ignoreMissing);
    await inOrg(deps.db, orgId, (tx) => deleteReplacedSegment(tx, orgId, segment.id));
  }
  return replaced.length;
}

/**
 * Removes every replaced file of a dataset without a grace period, because an erasure must leave no readable copy. A query that has not opened
 * such a file yet fails with `engine_failed` and is retried.
 */
export async function removeReplacedFilesOfDataset(
  deps: CleanSegmentsDeps,
  orgId: OrgId,
  dataset: string,
): Promise<void> {
  const replaced = await inOrg(deps.db, orgId, (tx) => listReplacedOfDataset(tx, orgId, dataset));
  for (const segment of replaced) {
    await unlink(join(logFolderPath(deps.config.dataDir, orgId), segment.path)).catch(ignoreMissing);
    await inOrg(deps.db, orgId, (tx) => deleteReplacedSegment(tx, orgId, segment.id));
  }
}

/**
 * Removes files that are not listed as segments, left behind by processes that were killed before they published them. Their events were
 * never reported as accepted. Files younger than `graceMs` are kept, because they may still be published. Returns the number of files.
 */
export async function removeOrphanedFiles(deps: CleanSegmentsDeps, graceMs = defaultGraceMs): Promise<number> {
  const root = join(deps.config.dataDir, 'logs');
  let removed = 0;
  for (const name of await listEntries(root)) {
    if (!uuidPattern.test(name)) continue;
    const orgId = toOrgId(name);
    const folder = logFolderPath(deps.config.dataDir, orgId);
    for (const dataset of await listEntries(folder)) {
      const files = await listFilesOlderThan(join(folder, dataset), graceMs);
      const paths = files.map((file) => join(dataset, file));
      const listed = await inOrg(deps.db, orgId, (tx) => findListedPaths(tx, orgId, paths));
      for (const path of paths.filter((path) => !listed.has(path))) {
        await unlink(join(folder, path)).catch(ignoreMissing);
        removed += 1;
      }
    }
  }
  return removed;
}

async function listFilesOlderThan(folder: string, ageMs: number): Promise<string[]> {
  const old: string[] = [];
  for (const name of await listEntries(folder)) {
    const stats = await stat(join(folder, name)).catch(() => undefined);
    if (stats?.isFile() && Date.now() - stats.mtimeMs >= ageMs) old.push(name);
  }
  return old;
}

async function listEntries(folder: string): Promise<string[]> {
  return readdir(folder).catch(() => []);
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}
