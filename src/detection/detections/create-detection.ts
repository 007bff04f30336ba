import { inOrg, inOrgWithCachedPlans, type Db, type Tx } from '../../platform/db/db.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { applyConnections } from '../scheduling/run-queue.store.ts';
import { openSchedule } from '../scheduling/schedule-lifecycle.ts';
import { checkCanRun, type CheckDetectionDeps } from './check-detection.ts';
import { checkSkills, findConnected, requireDetectionQuota } from './detection-views.store.ts';
import { emitDetection, insertAgent, storeQueryWarnings } from './detections.store.ts';
import { withQueryWarnings } from './record/warnings.ts';
import { checkModelAlias, type ModelAliases, buildAgent } from './record/build-detection.ts';
import { zonedCron } from './record/cron-schedule.ts';
import type { CreateDetection } from './record/detection-input.schema.ts';
import { toRecord } from './record/detection-record.ts';
import { emptyStats, type AgentView, type AgentWithPrompt } from './record/detection-row.ts';
import type { Detection } from './record/detection.schema.ts';

export type CreateDetectionDeps = { db: Db; clock: Clock; models?: ModelAliases } & CheckDetectionDeps;

/** Creates a detection with its first prompt version, revision and schedule. With `validate`, checks it on its SIEM first and throws 422 if it cannot run. */
export async function createDetection(
  deps: CreateDetectionDeps,
  caller: Caller,
  input: CreateDetection,
  validate = false,
): Promise<Detection> {
  checkModelAlias(deps.models, input.modelAlias);
  const agent = buildAgent(caller, input, deps.clock());
  const view = await toNewAgentView(deps, caller, agent);
  const warnings = validate ? await checkCanRun(deps, caller.orgId, view) : [];
  const record = toRecord(withQueryWarnings(view, warnings));
  await inOrgWithCachedPlans(deps.db, caller.orgId, async (tx) => {
    await storeNewDetection(tx, caller, { agent, record });
    if (warnings.length > 0)
      await storeQueryWarnings(tx, { orgId: caller.orgId, detectionId: agent.id }, { revision: 1, warnings });
  });
  return record;
}

/** A detection that is not stored yet, with its record. */
export type NewDetection = { agent: AgentWithPrompt; record: Detection };

/** Builds a detection for `storeNewDetection`. With `validate`, checks it as `createDetection` does. */
export async function prepareDetection(
  deps: CreateDetectionDeps,
  caller: Caller,
  input: CreateDetection,
  validate = false,
): Promise<NewDetection> {
  checkModelAlias(deps.models, input.modelAlias);
  const agent = buildAgent(caller, input, deps.clock());
  const view = await toNewAgentView(deps, caller, agent);
  if (validate) await checkCanRun(deps, caller.orgId, view);
  return { agent, record: toRecord(view) };
}

/** Stores a new detection with its first prompt version, revision and schedule. Throws 409 if it is enabled and the quota is used up. */
export async function storeNewDetection(tx: Tx, caller: Caller, { agent, record }: NewDetection): Promise<void> {
  if (agent.enabled) await requireDetectionQuota(tx, caller.orgId);
  await insertAgent(tx, caller, agent, { action: 'detection.created', record });
  await openAgentSchedule(tx, caller, agent);
  await emitDetection(tx, 'detection.created', record);
}

/** Returns the view of an agent that is not stored yet. Throws 400 if its connection does not belong to the organization, or a skill does not exist. */
export async function toNewAgentView({ db }: { db: Db }, caller: Caller, agent: AgentWithPrompt): Promise<AgentView> {
  const isLocal = agent.connection_id === null && agent.siem_type === null;
  const isConnected = isLocal || (await inOrg(db, caller.orgId, (tx) => findConnected(tx, agent)));
  if (agent.skills !== null) await inOrg(db, caller.orgId, (tx) => checkSkills(tx, caller.orgId, agent));
  return { ...agent, ...emptyStats, siem_connected: isConnected };
}

/** Coverage of the detection begins at the last slot before its creation. */
async function openAgentSchedule(tx: Tx, { orgId }: Caller, agent: AgentWithPrompt): Promise<void> {
  await openSchedule(tx, {
    orgId,
    detectionId: agent.id,
    cron: zonedCron(agent),
    active: agent.enabled,
    lookbackMinutes: agent.lookback_minutes,
    now: agent.updated_at,
  });
  if (agent.connection_id !== null || agent.siem_type !== null) await applyConnections(tx, orgId, agent.id);
}
