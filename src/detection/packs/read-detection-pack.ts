import { inOrg, type Db } from '../../platform/db/db.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { diffFields, toFileFields } from '../as-code/file-fields.ts';
import { toRecord } from '../detections/record/detection-record.ts';
import { readDetection } from '../detections/read-detections.ts';
import { findTests } from '../detections/test-cases.store.ts';
import { findPackInstall } from './pack-installs.store.ts';
import type { DetectionPack } from './packs.schema.ts';

export type ReadDetectionPackDeps = { db: Db; clock: Clock };

/** Returns the pack that a detection comes from, and what the organization changed in it. Throws 404 for an unknown detection. */
export function readDetectionPack(
  { db, clock }: ReadDetectionPackDeps,
  { orgId }: Caller,
  id: string,
): Promise<{ pack: DetectionPack | null }> {
  return inOrg(db, orgId, async (tx) => {
    const agent = await readDetection(tx, { orgId, now: clock() }, id);
    const install = await findPackInstall(tx, orgId, id);
    if (!install) return { pack: null };
    const tests = await findTests(tx, { orgId, detectionId: id });
    const { pack: name, file, version, fields, appliedAt } = install;
    const changes = diffFields(fields, toFileFields(toRecord(agent), tests));
    return { pack: { name, file, version, appliedAt: appliedAt.toISOString(), changes } };
  });
}
