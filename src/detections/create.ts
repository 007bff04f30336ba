import { inOrg, inOrgByKey, type Tx } from '../db/db.ts';
import type { Deps } from '../deps.ts';
import type { Caller } from '../orgs/caller.ts';
import { followConnections } from '../schedule/delays.ts';
import { openSchedule } from '../schedule/lifecycle.ts';
import { noFigures, type AgentView, type AgentWithPrompt } from './agent.ts';
import { insertAgent } from './agent-store.ts';
import { effectiveCron } from './cadence.ts';
import { checkWouldRun } from './check.ts';
import { checkModelAlias } from './columns.ts';
import { findConnected } from './connection-store.ts';
import { emitDetection } from './events.ts';
import type { CreateDetection } from './input.ts';
import { newAgent } from './new-agent.ts';
import { toRecord } from './record.ts';
import type { Detection } from './schema.ts';

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
