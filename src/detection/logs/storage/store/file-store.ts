import { mkdir, readdir, readFile, stat, unlink, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { toOrgId, uuidPattern } from '../../../../platform/lib/org-id.ts';
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
    lease: () => Promise.resolve(() => undefined),
    remove: (orgId, path) => unlink(join(folderOf(orgId), path)).catch(ignoreMissing),
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
