import { inOrg, type Db, type Tx } from '../../platform/db/db.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import { appError } from '../../platform/lib/errors.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { requireMatch } from '../../platform/orgs/record-version.ts';
import { storeChange } from './update-detection.ts';
import { lockAgent } from './detection-views.store.ts';
import { mergeUpdate, checkModelAlias, type ModelAliases } from './record/build-detection.ts';
import type { DismissSuggestion, UpdateDetection } from './record/detection-input.schema.ts';
import { toRecord } from './record/detection-record.ts';
import type { AgentView } from './record/detection-row.ts';
import type { Detection } from './record/detection.schema.ts';
import { requireDetection } from './read-detections.ts';

type LifeCycleDeps = { db: Db; clock: Clock };
/** `ifMatch` is the version that the caller saw. */
type Subject = { id: string; ifMatch?: string | undefined };
/** `gapReason` says why windows end with the transition. */
type Transition = { action: string; after: AgentView; gapReason?: 'deleted' | 'disabled' };

/** Applies a transition to the locked agent. `plan` returns null if the agent is already in the target state. Throws 412 for another version. */
async function applyTransition(
  { db, clock }: LifeCycleDeps,
  caller: Caller,
  { id, ifMatch }: Subject,
  plan: (agent: AgentView, now: Date) => Transition | null,
): Promise<Detection> {
  const now = clock();
  return inOrg(db, caller.orgId, async (tx) => {
    const before = await lockAgent(tx, { orgId: caller.orgId, now }, id);
    if (!before) throw appError('not_found', `Detection ${id} not found.`);
    await requireMatch(tx, ifMatch, toRecord(before), { resourceType: 'detection', resourceId: id });
    const transition = plan(before, now);
    if (!transition) return toRecord(before);
    const { action, after, gapReason = 'deleted' } = transition;
    return storeChange(tx, before, after, { caller, action, now, gapReason });
  });
}

/** Deletes a detection, which ends its schedule and cancels its queued runs, or dismisses an open suggestion. Throws 404 for another agent. */
export function deleteDetection(deps: LifeCycleDeps, caller: Caller, id: string, ifMatch?: string): Promise<Detection> {
  return applyTransition(deps, caller, { id, ifMatch }, (agent, now) => {
    requireDetection(agent, id);
    if (agent.deleted_at) return null;
    return agent.is_suggestion
      ? dismiss(agent, now, {})
      : { action: 'detection.deleted', after: markDeleted(agent, now) };
  });
}

/** Deletes a response agent: its triggers start no more runs, and its queued runs are cancelled. Throws 409 for a built-in agent and for a detection. */
export function deleteAgent(deps: LifeCycleDeps, caller: Caller, id: string, ifMatch?: string): Promise<Detection> {
  return applyTransition(deps, caller, { id, ifMatch }, (agent, now) => {
    requireDeletableAgent(agent, id);
    return agent.deleted_at ? null : { action: 'agent.deleted', after: markDeleted(agent, now) };
  });
}

/** Restores a deleted response agent. Throws 409 for a built-in agent and for a detection. */
export function restoreAgent(deps: LifeCycleDeps, caller: Caller, id: string, ifMatch?: string): Promise<Detection> {
  return applyTransition(deps, caller, { id, ifMatch }, (agent) => {
    requireDeletableAgent(agent, id);
    return agent.deleted_at ? { action: 'agent.restored', after: unmarkDeleted(agent), gapReason: 'disabled' } : null;
  });
}

function requireDeletableAgent({ is_built_in: isBuiltIn, agent_type: type }: AgentView, id: string): void {
  if (isBuiltIn) throw appError('conflict', `Agent ${id} is built in and cannot be deleted.`);
  if (type === 'detection')
    throw appError('conflict', `${id} is a detection. Delete or restore it at /api/detections/${id}.`);
}

const markDeleted = (agent: AgentView, now: Date): AgentView => ({
  ...agent,
  deleted_at: now,
  enabled_before_deletion: agent.enabled,
  enabled: false,
});

const unmarkDeleted = (agent: AgentView): AgentView => ({
  ...agent,
  deleted_at: null,
  enabled_before_deletion: null,
  enabled: agent.enabled_before_deletion ?? false,
});

/** Dismisses an open suggestion. Threat research proposes no look-alike for 90 days. Throws 409 for a detection. */
export function dismissSuggestion(
  deps: LifeCycleDeps,
  caller: Caller,
  subject: Subject,
  input: DismissSuggestion,
): Promise<Detection> {
  const { id } = subject;
  return applyTransition(deps, caller, subject, (agent, now) => {
    requireDetection(agent, id);
    if (!agent.is_suggestion) throw appError('conflict', `${id} is a detection, not a suggestion. Delete it instead.`);
    return agent.deleted_at ? null : dismiss(agent, now, input);
  });
}

/**
 * Turns an open suggestion into a detection and applies the overrides. If somebody else accepted it already, they apply only with `ifMatch`, because
 * the caller has seen the detection. Throws 409 if it is deleted or dismissed.
 */
export function acceptSuggestion(
  deps: LifeCycleDeps & { models?: ModelAliases },
  caller: Caller,
  subject: Subject,
  overrides: UpdateDetection,
): Promise<Detection> {
  const { id } = subject;
  return applyTransition(deps, caller, subject, (agent, now) => {
    requireDetection(agent, id);
    if (agent.deleted_at)
      throw appError('conflict', `${id} is ${agent.is_suggestion ? 'dismissed' : 'deleted'}. Restore it first.`);
    if (!agent.is_suggestion && subject.ifMatch === undefined) return null;
    checkModelAlias(deps.models, overrides.modelAlias);
    const after = mergeUpdate(agent, overrides, now);
    if (!agent.is_suggestion) return { action: 'detection.updated', after, gapReason: 'disabled' };
    return { action: 'suggestion.accepted', after: { ...after, is_suggestion: false } };
  });
}

/**
 * Disables a detection and shows `reason` in its record until a person enables it again. Returns false if it was already
 * disabled or deleted. Requests lock the agent before the schedule, so call this before the transaction locks the schedule.
 */
export async function disableDetection(
  tx: Tx,
  { orgId, detectionId, reason, now }: { orgId: OrgId; detectionId: string; reason: string; now: Date },
): Promise<boolean> {
  const before = await lockAgent(tx, { orgId, now }, detectionId);
  if (!before?.enabled || before.deleted_at || before.is_suggestion) return false;
  const after = { ...before, enabled: false, disabled_reason: reason };
  const caller = { orgId, keyId: null };
  await storeChange(tx, before, after, { caller, action: 'detection.disabled', now, gapReason: 'disabled' });
  return true;
}

/** Restores a deleted detection or a dismissed suggestion to its previous state. */
export function restoreDetection(
  deps: LifeCycleDeps,
  caller: Caller,
  id: string,
  ifMatch?: string,
): Promise<Detection> {
  return applyTransition(deps, caller, { id, ifMatch }, (agent) => {
    requireDetection(agent, id);
    if (!agent.deleted_at) return null;
    if (!agent.is_suggestion) return { action: 'detection.restored', after: unmarkDeleted(agent) };
    const after = { ...agent, deleted_at: null, dismiss_reason: null, dismiss_note: null };
    return { action: 'suggestion.restored', after };
  });
}

function dismiss(agent: AgentView, now: Date, { reason, note }: DismissSuggestion): Transition {
  const after = { ...agent, deleted_at: now, dismiss_reason: reason ?? null, dismiss_note: note ?? null };
  return { action: 'suggestion.dismissed', after };
}
