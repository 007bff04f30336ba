import { rm } from 'node:fs/promises';
import { acrossOrgs, type Db } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import type { SegmentStore } from '../../detection/logs/storage/store/segment-store.ts';
import { noteErasedFilesAcrossOrgs } from './erasures.store.ts';

export type EraseFilesDeps = { db: Db; segmentStore: Pick<SegmentStore, 'list' | 'remove' | 'folderOf'> };

/** Deletes the log files of an organization from the store and its local folder, listed or not, and records their number. */
export async function eraseFiles({ db, segmentStore }: EraseFilesDeps, orgId: OrgId): Promise<void> {
  for await (const { orgId: owner, files } of segmentStore.list()) {
    if (owner !== orgId) continue;
    const paths = files.map(({ path }) => path);
    await acrossOrgs(db, (tx) => noteErasedFilesAcrossOrgs(tx, orgId, paths));
    for (const path of paths) await segmentStore.remove(orgId, path);
  }
  await rm(segmentStore.folderOf(orgId), { recursive: true, force: true });
}
