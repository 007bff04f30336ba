import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rmdir, stat, unlink, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { toOrgId, uuidPattern } from '../../../platform/lib/org-id.ts';
import { createDurableFolder, moveFile, partialPath, partitionFolders } from './segment-file.ts';
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
    putText: (orgId, path, text) => replaceFile(folderOf(orgId), path, text),
    lease: () => Promise.resolve(() => undefined),
    async remove(orgId, path) {
      await unlink(join(folderOf(orgId), path)).catch(ignoreMissing);
      await removeEmptyFolders(join(folderOf(orgId), path));
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

/** Replaces a file as a whole. A process that is killed leaves an incomplete one, which is removed as an orphan. */
async function replaceFile(folder: string, path: string, text: string): Promise<void> {
  await createDurableFolder(folder);
  const partial = join(folder, partialPath(randomUUID()));
  await writeFile(partial, text, { mode: 0o600, flush: true });
  await moveFile(partial, join(folder, path));
}

/** Removes the folders of the hour and the day of a removed file, unless they contain another one. */
async function removeEmptyFolders(path: string): Promise<void> {
  for (const folder of partitionFolders(path)) {
    const isRemoved = await rmdir(folder).then(
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
