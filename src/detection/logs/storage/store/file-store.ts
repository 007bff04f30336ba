import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rmdir, stat, unlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { toOrgId, uuidPattern } from '../../../../platform/lib/org-id.ts';
import { createDurableFolder, syncFolder } from '../../ingestion/segment-file.ts';
import { isPublished } from '../segment-path.ts';
import type { SegmentStore, StoredFiles } from './segment-store.ts';

/** Creates the store of a local or shared folder: files stay where they were written. */
export function createFileStore(root: string): SegmentStore {
  const folderOf = (orgId: string): string => join(root, orgId);
  const idPath = join(root, 'directory-id');
  return {
    location: root,
    folderOf,
    // The writer has synced the file.
    put: () => Promise.resolve(null),
    putText: (orgId, path, text) => replaceFile(join(folderOf(orgId), path), text),
    lease: () => Promise.resolve(() => undefined),
    async remove(orgId, path) {
      await unlink(join(folderOf(orgId), path)).catch(ignoreMissing);
      await removeEmptyFolders(folderOf(orgId), dirname(path));
    },
    async *list() {
      for (const name of await readdir(root).catch(() => []))
        if (uuidPattern.test(name)) yield { orgId: toOrgId(name), files: await listFiles(folderOf(name)) };
    },
    listCopies: () => [],
    removeCopy: () => undefined,
    async readId() {
      const text = await readFile(idPath, 'utf8').catch(ignoreMissing);
      return text?.trim();
    },
    async writeId(id) {
      await mkdir(root, { recursive: true });
      await writeFile(idPath, `${id}\n`, { flag: 'wx', flush: true });
    },
    async probe() {
      const path = join(root, `probe-${process.pid}`);
      await mkdir(root, { recursive: true });
      await writeFile(path, '');
      await unlink(path);
    },
    close: () => undefined,
  };
}

/** Writes a file beside its place first. A process that is killed leaves that one, which is no segment and removed as an orphan. */
async function replaceFile(path: string, text: string): Promise<void> {
  await createDurableFolder(dirname(path));
  const partial = join(dirname(path), `.${basename(path)}.${randomUUID()}`);
  await writeFile(partial, text, { mode: 0o600, flush: true });
  await rename(partial, path);
  await syncFolder(dirname(path));
}

/** Removes the folders of an hour and a day, relative to `root`, unless they contain a file. */
async function removeEmptyFolders(root: string, folder: string): Promise<void> {
  if (!isPublished(folder)) return;
  for (let path = folder; dirname(path) !== '.'; path = dirname(path)) {
    const isRemoved = await rmdir(join(root, path)).then(
      () => true,
      () => false,
    );
    if (!isRemoved) return;
  }
}

async function listFiles(folder: string): Promise<StoredFiles['files']> {
  const files: StoredFiles['files'] = [];
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])) {
    if (!entry.isFile()) continue;
    const full = join(entry.parentPath, entry.name);
    // A file may be deleted meanwhile.
    const stats = await stat(full).catch(() => undefined);
    if (stats) files.push({ path: relative(folder, full), modifiedAt: stats.mtime });
  }
  return files;
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
  return undefined;
}
