import type { Tx } from '../../platform/db/db.ts';
import { findAgent, type ViewScope } from '../detections/detection-views.store.ts';
import { toRecord } from '../detections/record/detection-record.ts';
import { findTests } from '../detections/test-cases.store.ts';
import { toFileFields, type FileFields } from './file-fields.ts';

/** Returns the fields that a detection has now, without `hasTests` as if it had no tests. Undefined if it does not exist or is deleted. */
export async function readFields(
  tx: Tx,
  scope: ViewScope,
  detectionId: string,
  hasTests = true,
): Promise<FileFields | undefined> {
  const agent = await findAgent(tx, scope, detectionId);
  if (!agent || agent.deleted_at !== null) return undefined;
  const tests = hasTests ? await findTests(tx, { orgId: scope.orgId, detectionId }) : { tests: [] };
  return toFileFields(toRecord(agent), tests);
}
