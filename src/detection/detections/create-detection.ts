import { inOrg, inOrgByKey, type Tx } from '../../platform/db/db.ts';
import type { Deps } from '../../app/deps.ts';
import type { Caller } from '../../platform/orgs/caller.ts';
import { followConnections } from '../scheduling/connection-delays.ts';
import { openSchedule } from '../scheduling/schedule-lifecycle.ts';
import { noFigures, type AgentView, type AgentWithPrompt } from './record/detection-row.ts';
import { insertAgent } from './detections.store.ts';
import { effectiveCron } from './record/cadence.ts';
import { checkWouldRun } from './check-detection.ts';
import { checkModelAlias } from './record/detection-columns.ts';
import { findConnected } from './detection-connections.store.ts';
import { emitDetection } from './detection-events.ts';
import type { CreateDetection } from './record/detection-input.ts';
import { newAgent } from './record/new-detection.ts';
import { toRecord } from './record/detection-record.ts';
import type { Detection } from './record/detection.schema.ts';

export type CreateDeps = Pick<Deps, 'db' | 'clock' | 'checkQuery' | 'models'>;

/** Makes a detection with its first prompt version, revision and schedule. With `validate` it is checked against its SIEM first (422). */
export async function createDetection(
  deps: CreateDeps,
  caller: Caller,
  input: CreateDetection,
  validate = false,
): Promise<Detection> {
  checkModelAlias(deps.models, input.modelAlias);
  const agent = newAgent(caller, input, deps.clock());
  const view = await viewOf(deps, caller, agent);
  if (validate) await checkWouldRun(deps, caller.orgId, view);
  const record = toRecord(view);
  await inOrgByKey(deps.db, caller.orgId, async (tx) => {
    await insertAgent(tx, caller, agent, {
      action: 'detection.created',
      resourceType: 'detection',
      resourceId: agent.id,
      before: null,
      after: record,
    });
    await openAgentSchedule(tx, caller, agent);
    await emitDetection(tx, 'detection.created', record);
  });
  return record;
}

/** The agent as it will be seen, before anything of it is stored. 400 for a connection that is not the organization's. */
export async function viewOf({ db }: Pick<Deps, 'db'>, caller: Caller, agent: AgentWithPrompt): Promise<AgentView> {
  const isPlain = agent.connection_id === null && agent.siem_type === null;
  const connected = isPlain || (await inOrg(db, caller.orgId, (tx) => findConnected(tx, agent)));
  return { ...agent, ...noFigures, siem_connected: connected };
}

/** Coverage of a detection begins here, at the last slot before now. */
async function openAgentSchedule(tx: Tx, { orgId }: Caller, agent: AgentWithPrompt): Promise<void> {
  await openSchedule(tx, {
    orgId,
    detectionId: agent.id,
    cron: effectiveCron(agent),
    active: agent.enabled,
    lookbackMinutes: agent.lookback_minutes,
    now: agent.updated_at,
  });
  if (agent.connection_id !== null || agent.siem_type !== null) await followConnections(tx, orgId, agent.id);
}
