import { inOrg } from '../../platform/db/db.ts';
import type { Deps } from '../../app/deps.ts';
import { appError } from '../../platform/lib/errors.ts';
import type { Caller } from '../../platform/orgs/caller.ts';
import type { AgentView } from './record/detection-row.ts';
import { checkModelAlias } from './record/detection-columns.ts';
import { storeChange } from './change-detection.ts';
import type { DismissSuggestion, UpdateDetection } from './record/detection-input.ts';
import { toRecord } from './record/detection-record.ts';
import type { Detection } from './record/detection.schema.ts';
import { detectionOr404, merge } from './update-detection.ts';
import { lockAgent } from './detection-views.store.ts';

type CycleDeps = Pick<Deps, 'db' | 'clock'>;
type Step = { action: string; after: AgentView };

/** Takes one step of the life cycle on the locked record. `step` answers null where the state already holds. */
async function takeStep(
  { db, clock }: CycleDeps,
  caller: Caller,
  id: string,
  step: (agent: AgentView, now: Date) => Step | null,
): Promise<Detection> {
  const now = clock();
  return inOrg(db, caller.orgId, async (tx) => {
    const before = await lockAgent(tx, { orgId: caller.orgId, now }, id);
    if (!before) throw appError('not_found', `Detection ${id} not found.`);
    const taken = step(before, now);
    if (!taken) return toRecord(before);
    return storeChange(tx, before, taken.after, { caller, action: taken.action, now, reason: 'deleted' });
  });
}

/** Deletes a detection (schedule off, queued runs cancelled) or dismisses an open suggestion. 409 for a built-in agent. */
export function deleteDetection(deps: CycleDeps, caller: Caller, id: string): Promise<Detection> {
  return takeStep(deps, caller, id, (agent, now) => {
    if (agent.is_built_in) throw appError('conflict', `Agent ${id} is built in and cannot be deleted.`);
    if (agent.deleted_at) return null;
    if (agent.is_suggestion) return dismissed(agent, now, {});
    const after = { ...agent, deleted_at: now, enabled_before_deletion: agent.enabled, enabled: false };
    return { action: 'detection.deleted', after };
  });
}

/** Dismisses an open suggestion; a look-alike of the suggester stays away for 90 days. 409 for a detection. */
export function dismissSuggestion(
  deps: CycleDeps,
  caller: Caller,
  id: string,
  input: DismissSuggestion,
): Promise<Detection> {
  return takeStep(deps, caller, id, (agent, now) => {
    detectionOr404(agent, id);
    if (!agent.is_suggestion) throw appError('conflict', `${id} is a detection, not a suggestion; delete it instead.`);
    return agent.deleted_at ? null : dismissed(agent, now, input);
  });
}

/** Makes an open suggestion a detection, with the overrides given. 409 for one that is deleted or dismissed. */
export function acceptSuggestion(
  deps: CycleDeps & Pick<Deps, 'models'>,
  caller: Caller,
  id: string,
  overrides: UpdateDetection,
): Promise<Detection> {
  return takeStep(deps, caller, id, (agent, now) => {
    detectionOr404(agent, id);
    if (agent.deleted_at)
      throw appError('conflict', `${id} is ${agent.is_suggestion ? 'dismissed' : 'deleted'}; restore it first.`);
    if (!agent.is_suggestion) return null;
    checkModelAlias(deps.models, overrides.modelAlias);
    return { action: 'suggestion.accepted', after: { ...merge(agent, overrides, now), is_suggestion: false } };
  });
}

/** Makes a deleted detection or a dismissed suggestion what it was before. */
export function restoreDetection(deps: CycleDeps, caller: Caller, id: string): Promise<Detection> {
  return takeStep(deps, caller, id, (agent) => {
    detectionOr404(agent, id);
    if (!agent.deleted_at) return null;
    const after = {
      ...agent,
      deleted_at: null,
      dismiss_reason: null,
      dismiss_note: null,
      enabled_before_deletion: null,
    };
    if (agent.is_suggestion) return { action: 'suggestion.restored', after };
    return { action: 'detection.restored', after: { ...after, enabled: agent.enabled_before_deletion ?? false } };
  });
}

function dismissed(agent: AgentView, now: Date, { reason, note }: DismissSuggestion): Step {
  const after = { ...agent, deleted_at: now, dismiss_reason: reason ?? null, dismiss_note: note ?? null };
  return { action: 'suggestion.dismissed', after };
}
