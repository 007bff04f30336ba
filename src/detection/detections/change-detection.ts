import type { Tx } from '../../platform/db/db.ts';
import type { Caller } from '../../platform/orgs/caller.ts';
import { followConnections } from '../scheduling/connection-delays.ts';
import { changeSchedule } from '../scheduling/schedule-lifecycle.ts';
import type { AgentView } from './record/detection-row.ts';
import { changedColumns, updateAgent } from './detections.store.ts';
import { effectiveCron } from './record/cadence.ts';
import { asksAnother, findConnected } from './detection-connections.store.ts';
import { definitionText } from './record/definition.ts';
import { emitDetection } from './detection-events.ts';
import { fingerprintOf } from './record/fingerprint.ts';
import { toRecord } from './record/detection-record.ts';
import type { Detection } from './record/detection.schema.ts';

/** One change of a locked agent. `now` is slot time; `reason` names the gap that an absence leaves. */
export type AgentChange = {
  caller: Pick<Caller, 'orgId' | 'keyId'>;
  action: string;
  now: Date;
  reason: 'disabled' | 'deleted';
};

/**
 * Stores `after` in place of `before`: `updatedAt` strictly forward, a new revision where the definition differs, the audit row,
 * and what follows for the schedule. Nothing differs: nothing is written. Answers the record.
 */
export async function storeChange(
  tx: Tx,
  before: AgentView,
  after: AgentView,
  change: AgentChange,
): Promise<Detection> {
  const { caller, action, now } = change;
  if (changedColumns(before, after).length === 0) return toRecord(before);
  const moves = asksAnother(before, after);
  const stored: AgentView = {
    ...after,
    ...(moves ? { siem_connected: await findConnected(tx, after) } : {}),
    updated_at: new Date(Math.max(now.getTime(), before.updated_at.getTime() + 1)),
    revision: definitionText(before) === definitionText(after) ? before.revision : before.revision + 1,
    ...suggestionColumns(before, after),
  };
  const record = toRecord(stored);
  const resourceType = stored.agent_type === 'detection' ? 'detection' : 'agent';
  const written = {
    action,
    resourceType,
    resourceId: stored.id,
    before: toRecord(before),
    after: record,
  };
  await updateAgent(tx, caller, { before, after: stored }, written);
  await followSchedule(tx, before, stored, change);
  if (moves) await followConnections(tx, caller.orgId, stored.id);
  await emitDetection(tx, action, record);
  return record;
}

/** A changed text has another fingerprint, and what was estimated of the old one says nothing of it. */
function suggestionColumns(before: AgentView, after: AgentView): Partial<AgentView> {
  if (!after.is_suggestion) return {};
  const isSame = definitionText(before) === definitionText(after);
  return { suggestion_fingerprint: fingerprintOf(after), estimate: isSame ? after.estimate : null };
}

async function followSchedule(
  tx: Tx,
  before: AgentView,
  after: AgentView,
  { caller, now, reason }: AgentChange,
): Promise<void> {
  const [old, next] = [scheduleOf(before), scheduleOf(after)];
  const isSame = old.cron === next.cron && old.active === next.active && old.lookbackMinutes === next.lookbackMinutes;
  // A deletion cancels runs that were asked for by hand, too.
  const isDeleted = after.deleted_at !== null && before.deleted_at === null && !after.is_suggestion;
  if (isSame && !isDeleted) return;
  await changeSchedule(tx, { orgId: caller.orgId, detectionId: after.id, ...next, now, reason });
  // A first schedule begins without the delay of the connection.
  if (after.connection_id !== null || after.siem_type !== null) await followConnections(tx, caller.orgId, after.id);
}

/** What the scheduler sees: an open suggestion and a built-in agent have no schedule yet, whatever their cron. */
function scheduleOf(agent: AgentView): { cron: string | null; active: boolean; lookbackMinutes: number | null } {
  const runs = agent.agent_type === 'detection' && !agent.is_suggestion;
  const cron = runs ? effectiveCron(agent) : null;
  return {
    cron,
    active: cron !== null && agent.enabled && agent.deleted_at === null,
    lookbackMinutes: agent.lookback_minutes,
  };
}
