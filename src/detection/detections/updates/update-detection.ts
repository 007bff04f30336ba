import { inOrg, type Db } from '../../../platform/db/db.ts';
import type { Clock } from '../../../platform/lib/time/clock.ts';
import type { Caller } from '../../../platform/http/caller.ts';
import { requireMatch } from '../../../platform/orgs/record-version.ts';
import { storeChange } from './change-detection.ts';
import { checkCanRun, checkTestsPass, type CheckDetectionDeps, type CheckTestsDeps } from '../check-detection.ts';
import { changesConnection, findConnected } from '../detection-connections.store.ts';
import { mergeUpdate } from './merge-update.ts';
import { checkModelAlias, type ModelAliases } from '../record/check-model-alias.ts';
import type { UpdateDetection } from '../record/detection-input.schema.ts';
import { toRecord } from '../record/detection-record.ts';
import type { AgentView } from '../record/detection-row.ts';
import type { Detection, Warning } from '../record/detection.schema.ts';
import { lockEditable, readEditable } from '../require-detection.ts';

export type UpdateDetectionDeps = { db: Db; clock: Clock; models?: ModelAliases } & CheckDetectionDeps & CheckTestsDeps;
type UpdateOptions = { validate?: boolean; requireTests?: boolean; ifMatch?: string | undefined };

/**
 * Changes a detection or an open suggestion. Absent fields are unchanged. Throws 404, 409 if it is deleted, and 412 if
 * `If-Match` does not match.
 */
export async function updateDetection(
  deps: UpdateDetectionDeps,
  caller: Caller,
  { id, input }: { id: string; input: UpdateDetection },
  { validate = false, requireTests = false, ifMatch }: UpdateOptions = {},
): Promise<Detection> {
  const now = deps.clock();
  const scope = { orgId: caller.orgId, now };
  let warnings: Warning[] | undefined;
  if (validate || requireTests) {
    // The checks run before the row is locked, because a SIEM may be slow.
    const current = await inOrg(deps.db, caller.orgId, (tx) => readEditable(tx, scope, id));
    const next = mergeUpdate(current, input, now);
    if (validate)
      warnings = await checkCanRun(deps, caller.orgId, await withConnectionState(deps, caller, current, next));
    if (requireTests) await checkTestsPass(deps, caller.orgId, next);
  }
  return inOrg(deps.db, caller.orgId, async (tx) => {
    const before = await lockEditable(tx, scope, id);
    await requireMatch(tx, ifMatch, toRecord(before), { resourceType: 'detection', resourceId: id });
    checkModelAlias(deps.models, input.modelAlias);
    const after = mergeUpdate(before, input, now);
    const change = { caller, action: 'detection.updated', now, gapReason: 'disabled', warnings } as const;
    return storeChange(tx, before, after, change);
  });
}

/** Looks up whether the new connection exists, if the update changes the connection. */
async function withConnectionState(
  { db }: { db: Db },
  { orgId }: Caller,
  before: AgentView,
  after: AgentView,
): Promise<AgentView> {
  if (!changesConnection(before, after)) return after;
  return { ...after, siem_connected: await inOrg(db, orgId, (tx) => findConnected(tx, after)) };
}
