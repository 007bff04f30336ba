import { inOrg, type Tx } from '../db/db.ts';
import type { Deps } from '../deps.ts';
import type { Caller } from '../orgs/caller.ts';
import { followConnections } from '../schedule/delays.ts';
import { openSchedule } from '../schedule/lifecycle.ts';
import { insertAgent } from './agent-store.ts';
import type { AgentWithPrompt } from './agent.ts';
import { effectiveCron } from './cadence.ts';
import { checkWouldRun } from './check.ts';
import { checkModelAlias } from './columns.ts';
import { freshView } from './fresh-view.ts';
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
  const view = await freshView(deps, caller, agent);
  if (validate) await checkWouldRun(deps, caller.orgId, view);
  const record = toRecord(view);
  await inOrg(deps.db, caller.orgId, async (tx) => {
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
