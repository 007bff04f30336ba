import { inOrg } from '../../platform/db/db.ts';
import type { Deps } from '../../app/deps.ts';
import { appError } from '../../platform/lib/errors.ts';
import { uuidv7 } from '../../platform/lib/ids.ts';
import type { Caller } from '../../platform/orgs/caller.ts';
import type { AgentView } from './record/detection-row.ts';
import { checkLookback, effectiveCron, enabledAfter } from './record/cadence.ts';
import { storeChange } from './change-detection.ts';
import { checkTestsPass, checkWouldRun } from './check-detection.ts';
import { asksAnother, findConnected } from './detection-connections.store.ts';
import { checkModelAlias, columnsOf } from './record/detection-columns.ts';
import { checkIfMatch, etagOf } from '../../platform/http/etag.ts';
import type { UpdateDetection } from './record/detection-input.ts';
import { toRecord } from './record/detection-record.ts';
import type { Detection } from './record/detection.schema.ts';
import { findAgent, lockAgent } from './detection-views.store.ts';

type UpdateOptions = { validate?: boolean; requireTests?: boolean; ifMatch?: string | undefined };

/** Changes a detection or an open suggestion; absent fields stay. 404, 409 for a deleted one, 412 where If-Match does not fit. */
export async function updateDetection(
  deps: Pick<Deps, 'db' | 'clock' | 'checkQuery' | 'checkTests' | 'models'>,
  caller: Caller,
  { id, input }: { id: string; input: UpdateDetection },
  { validate = false, requireTests = false, ifMatch }: UpdateOptions = {},
): Promise<Detection> {
  const now = deps.clock();
  const scope = { orgId: caller.orgId, now };
  if (validate || requireTests) {
    // Asked before the row is locked: a SIEM may take its time.
    const seen = changeable(await inOrg(deps.db, caller.orgId, (tx) => findAgent(tx, scope, id)), id);
    const next = merge(seen, input, now);
    if (validate) await checkWouldRun(deps, caller.orgId, await withConnection(deps, caller, seen, next));
    if (requireTests) await checkTestsPass(deps, caller.orgId, next);
  }
  return inOrg(deps.db, caller.orgId, async (tx) => {
    const before = changeable(await lockAgent(tx, scope, id), id);
    checkIfMatch(ifMatch, etagOf(toRecord(before)));
    checkModelAlias(deps.models, input.modelAlias);
    return storeChange(tx, before, merge(before, input, now), {
      caller,
      action: 'detection.updated',
      now,
      reason: 'disabled',
    });
  });
}

/** What a check says of a SIEM is about the one that would be asked. */
async function withConnection(
  { db }: Pick<Deps, 'db'>,
  { orgId }: Caller,
  before: AgentView,
  after: AgentView,
): Promise<AgentView> {
  if (!asksAnother(before, after)) return after;
  return { ...after, siem_connected: await inOrg(db, orgId, (tx) => findConnected(tx, after)) };
}

/** The detection of this id, deleted or not; 404 for another kind of agent too. */
export function detectionOr404(agent: AgentView | undefined, id: string): AgentView {
  if (agent?.agent_type !== 'detection') throw appError('not_found', `Detection ${id} not found.`);
  return agent;
}

/** The same where it may be changed: 409 for a deleted one. */
export function changeable(found: AgentView | undefined, id: string): AgentView {
  const agent = detectionOr404(found, id);
  if (agent.deleted_at !== null) throw appError('conflict', `Detection ${id} is deleted; restore it first.`);
  return agent;
}

/** The agent as the body leaves it. 400 for what does not fit together. */
export function merge(before: AgentView, input: UpdateDetection, now: Date): AgentView {
  const custom = input.customCronSchedule;
  // What stands already was accepted when it came.
  const fresh =
    custom !== undefined && custom === before.custom_cron_schedule
      ? { ...input, customCronSchedule: undefined }
      : input;
  const after: AgentView = { ...before, ...columnsOf(fresh, now), ...nextPrompt(before, input.systemPrompt, now) };
  const cron = effectiveCron(after);
  after.enabled = enabledAfter({ cron: effectiveCron(before), enabled: before.enabled }, cron, input.enabled);
  if (after.enabled) after.disabled_reason = null;
  if (cron !== effectiveCron(before) || after.lookback_minutes !== before.lookback_minutes) checkLookback(after);
  return after;
}

/** Prompts are immutable versions: new text makes and activates the next one, the same text none. */
function nextPrompt(before: AgentView, prompt: string | undefined, now: Date): Partial<AgentView> {
  if (prompt === undefined || prompt === before.prompt) return {};
  return {
    prompt,
    active_prompt_id: uuidv7(now),
    prompt_version: before.latest_prompt_version + 1,
    latest_prompt_version: before.latest_prompt_version + 1,
    prompt_description: '',
    prompt_created_at: now,
  };
}
