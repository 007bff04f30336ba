import { rm } from 'node:fs/promises';
import { acrossOrgs, type Db } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import type { SegmentStore } from '../../detection/logs/storage/store/segment-store.ts';
import { addErasedFilesAcrossOrgs } from './erasures.store.ts';

export type EraseFilesDeps = { db: Db; segmentStore: Pick<SegmentStore, 'list' | 'remove' | 'folderOf'> };

/** Deletes the log files of an organization from the store and its local folder, listed or not, and records their number. */
export async function eraseFiles({ db, segmentStore }: EraseFilesDeps, orgId: OrgId): Promise<void> {
  for await (const { orgId: owner, files } of segmentStore.list()) {
    if (owner !== orgId) continue;
    for (const { path } of files) await segmentStore.remove(orgId, path);
    await acrossOrgs(db, (tx) => addErasedFilesAcrossOrgs(tx, orgId, files.length));
  }
  await rm(segmentStore.folderOf(orgId), { recursive: true, force: true });
}
