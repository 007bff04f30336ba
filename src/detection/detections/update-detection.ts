import { inOrg, type Db, type Tx } from '../../platform/db/db.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import type { Caller, Author } from '../../platform/http/caller.ts';
import { requireMatch } from '../../platform/orgs/record-version.ts';
import { checkCanRun, checkTestsPass, type CheckDetectionDeps, type CheckTestsDeps } from './check-detection.ts';
import {
  changesConnection,
  checkSkills,
  findConnected,
  isCounted,
  requireDetectionQuota,
} from './detection-views.store.ts';
import { mergeUpdate, checkModelAlias, type ModelAliases } from './record/build-detection.ts';
import type { UpdateDetection } from './record/detection-input.schema.ts';
import { toRecord, definitionText } from './record/detection-record.ts';
import { type AgentView, suggestionFingerprint } from './record/detection-row.ts';
import type { Detection, Warning } from './record/detection.schema.ts';
import { lockEditable, readEditable } from './read-detections.ts';
import { applyConnections } from '../scheduling/run-queue.store.ts';
import { changeSchedule } from '../scheduling/schedule-lifecycle.ts';
import {
  emitDetections,
  listChangedColumns,
  updateAgent,
  carryQueryWarnings,
  storeQueryWarnings,
} from './detections.store.ts';
import { zonedCron } from './record/cron-schedule.ts';
import { hasSameQuery, withQueryWarnings } from './record/warnings.ts';
import { storeCronTrigger } from './triggers/agent-triggers.store.ts';

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

/** A change of a locked agent. `now` is slot time. `gapReason` is the reason of the gap that a time without schedule leaves. */
type AgentChange = {
  caller: Author;
  action: string;
  now: Date;
  gapReason: 'disabled' | 'deleted';
  /** The warnings of a check of `after`. Absent if it was not checked. */
  warnings?: Warning[] | undefined;
};

/**
 * Replaces `before` with `after` and returns the new record. Moves `updatedAt` strictly forward, adds a revision if the
 * definition differs, writes the audit row, updates the schedule and emits the event. Writes nothing if no column differs. Throws 409 if it enables a detection
 * and the quota is used up.
 */
export async function storeChange(
  tx: Tx,
  before: AgentView,
  after: AgentView,
  change: AgentChange,
): Promise<Detection> {
  const { caller, action, now } = change;
  if (listChangedColumns(before, after).length === 0) return toRecord(await storeWarnings(tx, before, before, change));
  const hasNewConnection = changesConnection(before, after);
  if (after.skills !== before.skills) await checkSkills(tx, caller.orgId, after);
  const isSameDefinition = definitionText(before) === definitionText(after);
  const changed: AgentView = {
    ...after,
    ...(hasNewConnection ? { siem_connected: await findConnected(tx, after) } : {}),
    updated_at: new Date(Math.max(now.getTime(), before.updated_at.getTime() + 1)),
    revision: isSameDefinition ? before.revision : before.revision + 1,
    ...(after.is_suggestion ? toSuggestionColumns(after, isSameDefinition) : {}),
  };
  if (isCounted(changed) && !isCounted(before)) await requireDetectionQuota(tx, caller.orgId);
  const stored = await storeWarnings(tx, before, changed, change);
  const record = toRecord(stored);
  await updateAgent(tx, caller, { action, before, after: stored });
  await updateSchedule(tx, before, stored, change);
  if (hasNewConnection) await applyConnections(tx, caller.orgId, stored.id);
  await emitDetections(tx, action, [record]);
  return record;
}

/** Stores the warnings of a check. Without a check, warnings stay as long as the query and its fields do. */
async function storeWarnings(
  tx: Tx,
  before: AgentView,
  after: AgentView,
  { caller, warnings }: AgentChange,
): Promise<AgentView> {
  const key = { orgId: caller.orgId, detectionId: after.id };
  if (warnings) {
    await storeQueryWarnings(tx, key, { revision: after.revision, warnings });
    return withQueryWarnings(after, warnings);
  }
  if (before.revision === after.revision) return after;
  if (!hasSameQuery(before, after)) return withQueryWarnings(after, []);
  await carryQueryWarnings(tx, key, { from: before.revision, to: after.revision });
  return after;
}

/** The fingerprint follows the text, and an estimate is valid only for the definition it was made for. */
function toSuggestionColumns(after: AgentView, isSameDefinition: boolean): Partial<AgentView> {
  return {
    suggestion_fingerprint: suggestionFingerprint(after),
    estimate: isSameDefinition ? after.estimate : null,
  };
}

async function updateSchedule(
  tx: Tx,
  before: AgentView,
  after: AgentView,
  { caller, now, gapReason }: AgentChange,
): Promise<void> {
  const [old, next] = [toSchedule(before), toSchedule(after)];
  const isSame = old.cron === next.cron && old.active === next.active && old.lookbackMinutes === next.lookbackMinutes;
  if (after.agent_type === 'response' && !after.is_built_in && hasOtherSlots(before, after))
    await storeCronTrigger(tx, after, now);
  // Deletion also cancels queued runs that were requested manually, even without a schedule.
  const isDeletion = after.deleted_at !== null && before.deleted_at === null && !after.is_suggestion;
  if (isSame && !isDeletion) return;
  await changeSchedule(tx, { orgId: caller.orgId, detectionId: after.id, ...next, now, reason: gapReason });
  // A first schedule is created without the delay of the connection.
  if (after.connection_id !== null || after.siem_type !== null) await applyConnections(tx, caller.orgId, after.id);
}

const hasOtherSlots = (before: AgentView, after: AgentView): boolean =>
  zonedCron(before) !== zonedCron(after) || before.enabled !== after.enabled || before.deleted_at !== after.deleted_at;

/** Returns the schedule as the scheduler of detections sees it. Open suggestions and response agents examine no windows. */
function toSchedule(agent: AgentView): { cron: string | null; active: boolean; lookbackMinutes: number | null } {
  const isScheduled = agent.agent_type === 'detection' && !agent.is_suggestion;
  const cron = isScheduled ? zonedCron(agent) : null;
  return {
    cron,
    active: cron !== null && agent.enabled && agent.deleted_at === null,
    lookbackMinutes: agent.lookback_minutes,
  };
}
