import { inOrg, type Db, type Tx } from '../../platform/db/db.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { applyConnections } from '../scheduling/run-queue.store.ts';
import { scheduleInsertSql } from '../scheduling/schedule-lifecycle.ts';
import { withDefaultTools } from './agent-settings/agent-settings.ts';
import { checkCanRun, type CheckDetectionDeps } from './check-detection.ts';
import { checkSkills, findConnected, requireDetectionQuota } from './detection-views.store.ts';
import { emitDetections, insertAgents, storeQueryWarnings, findLookAlike } from './detections.store.ts';
import { withQueryWarnings } from './record/warnings.ts';
import { checkModelAlias, type ModelAliases, buildAgent } from './record/build-detection.ts';
import { zonedCron } from './record/cron-schedule.ts';
import type { CreateDetection, CreateSuggestion } from './record/detection-input.schema.ts';
import { toRecord } from './record/detection-record.ts';
import { emptyStats, type AgentView, type AgentWithPrompt, suggestionFingerprint } from './record/detection-row.ts';
import type { Detection, Estimate } from './record/detection.schema.ts';
import { appError } from '../../platform/lib/errors.ts';
import type { TestCase } from './test-cases.schema.ts';
import { storeTestsSql } from './test-cases.store.ts';

export type CreateDetectionDeps = { db: Db; clock: Clock; models?: ModelAliases } & CheckDetectionDeps;

/**
 * Creates a detection with its first prompt version, revision and schedule. It has the organization's tools, unless `input` specifies tools. With
 * `validate`, checks it on its SIEM first and throws 422 if it cannot run.
 */
export async function createDetection(
  deps: CreateDetectionDeps,
  caller: Caller,
  input: CreateDetection,
  validate = false,
): Promise<Detection> {
  const { db, models, clock } = deps;
  const { orgId } = caller;
  checkModelAlias(models, input.modelAlias);
  const now = clock();
  const build = async (tx: Tx): Promise<{ agent: AgentWithPrompt; view: AgentView }> => {
    const agent = buildAgent(caller, await withDefaultTools(tx, orgId, input), now);
    return { agent, view: await toNewAgentView(tx, orgId, agent) };
  };
  const warnings = validate ? await checkCanRun(deps, orgId, (await inOrg(db, orgId, build)).view) : [];
  return inOrg(db, orgId, async (tx) => {
    const { agent, view } = await build(tx);
    const record = toRecord(withQueryWarnings(view, warnings));
    if (agent.enabled) await requireDetectionQuota(tx, orgId);
    await storeNewDetections(tx, caller, [{ agent, record }]);
    if (warnings.length > 0) await storeQueryWarnings(tx, { orgId, detectionId: agent.id }, { revision: 1, warnings });
    return record;
  });
}

/** A detection that is not stored yet, with its record. */
export type NewDetection = { agent: AgentWithPrompt; record: Detection };

/** Builds a detection for `storeNewDetections`, with the tools of `input` only. With `validate`, checks it as `createDetection` does. */
export async function prepareDetection(
  deps: CreateDetectionDeps,
  caller: Caller,
  input: CreateDetection,
  validate = false,
): Promise<NewDetection> {
  checkModelAlias(deps.models, input.modelAlias);
  const agent = buildAgent(caller, input, deps.clock());
  const hasReferences = !isLocal(agent) || agent.skills !== null;
  const view = hasReferences
    ? await inOrg(deps.db, caller.orgId, (tx) => toNewAgentView(tx, caller.orgId, agent))
    : toView(agent, true);
  if (validate) await checkCanRun(deps, caller.orgId, view);
  return { agent, record: toRecord(view) };
}

/** Stores new detections, each with its first prompt version, revision and schedule. The caller has checked the quota of the enabled ones. */
export async function storeNewDetections(tx: Tx, caller: Caller, detections: readonly NewDetection[]): Promise<void> {
  const { orgId } = caller;
  const agents = detections.map(({ agent, record }) => {
    // Coverage begins at the last slot before the creation.
    const schedule = scheduleInsertSql({
      orgId,
      detectionId: agent.id,
      cron: zonedCron(agent),
      active: agent.enabled,
      lookbackMinutes: agent.lookback_minutes,
      now: agent.updated_at,
    });
    return { agent, action: 'detection.created', record, schedule };
  });
  await insertAgents(tx, caller, agents);
  for (const { agent, schedule } of agents)
    if (schedule && !isLocal(agent)) await applyConnections(tx, orgId, agent.id);
  const records = detections.map(({ record }) => record);
  await emitDetections(tx, 'detection.created', records);
}

/** Returns the view of an agent that is not stored yet. Throws 400 if its connection does not belong to the organization, or a skill does not exist. */
export async function toNewAgentView(tx: Tx, orgId: OrgId, agent: AgentWithPrompt): Promise<AgentView> {
  const isConnected = isLocal(agent) || (await findConnected(tx, agent));
  if (agent.skills !== null) await checkSkills(tx, orgId, agent);
  return toView(agent, isConnected);
}

const toView = (agent: AgentWithPrompt, isConnected: boolean): AgentView => ({
  ...agent,
  ...emptyStats,
  siem_connected: isConnected,
});

const isLocal = (agent: AgentWithPrompt): boolean => agent.connection_id === null && agent.siem_type === null;

const lookAlikeDays = 90;
const dayMs = 86_400_000;

/** The data that threat research adds to a suggestion. Suggestions with the same `key` are look-alikes, even if their texts differ. */
export type ResearchProposal = { key: string; estimate: Estimate | null; tests: TestCase[] };

/**
 * Creates an open suggestion, which runs once it is accepted. A suggestion with a `proposal` is refused with 409 if a
 * look-alike exists, or was dismissed or deleted within 90 days of slot time. People may suggest anything.
 */
export async function createSuggestion(
  deps: CreateDetectionDeps,
  caller: Caller,
  input: CreateSuggestion,
  { validate = false, proposal }: { validate?: boolean; proposal?: ResearchProposal } = {},
): Promise<Detection> {
  checkModelAlias(deps.models, input.modelAlias);
  const now = deps.clock();
  const detection = buildAgent(caller, input, now);
  const agent = {
    ...detection,
    is_suggestion: true,
    rationale: input.rationale ?? '',
    source_item_ids: input.sourceItemIds ?? [],
    technique: input.technique ?? null,
    evidence: JSON.stringify(input.evidence ?? []),
    estimate: proposal?.estimate ? JSON.stringify(proposal.estimate) : null,
    suggestion_fingerprint: suggestionFingerprint(detection),
    suggestion_key: proposal?.key ?? null,
  } satisfies AgentWithPrompt;
  const view = await inOrg(deps.db, caller.orgId, (tx) => toNewAgentView(tx, caller.orgId, agent));
  const warnings = validate ? await checkCanRun(deps, caller.orgId, view) : [];
  const record = toRecord(withQueryWarnings(view, warnings));
  await inOrg(deps.db, caller.orgId, async (tx) => {
    if (proposal)
      await refuseLookAlike(tx, caller, { fingerprint: agent.suggestion_fingerprint, key: proposal.key, now });
    await insertAgents(tx, caller, [{ agent, action: 'suggestion.created', record }]);
    if (warnings.length > 0)
      await storeQueryWarnings(tx, { orgId: caller.orgId, detectionId: agent.id }, { revision: 1, warnings });
    if (proposal && proposal.tests.length > 0)
      await storeTestsSql({ orgId: caller.orgId, detectionId: agent.id }, { tests: proposal.tests }, now).execute(tx);
    await emitDetections(tx, 'suggestion.created', [record]);
  });
  return record;
}

async function refuseLookAlike(
  tx: Tx,
  { orgId }: Caller,
  { fingerprint, key, now }: { fingerprint: string; key: string; now: Date },
): Promise<void> {
  const since = new Date(now.getTime() - lookAlikeDays * dayMs);
  const lookAlike = await findLookAlike(tx, orgId, { fingerprint, key, since });
  if (!lookAlike) return;
  const [code, state] = lookAlike.isDeleted
    ? ['suggestion_dismissed', `was dismissed or deleted within ${lookAlikeDays} days`]
    : ['suggestion_known', 'already exists'];
  const detail = `${lookAlike.id} is similar to this suggestion and ${state}.`;
  throw appError('conflict', detail, { errors: [{ pointer: '/detectionQuery', code, detail }] });
}
