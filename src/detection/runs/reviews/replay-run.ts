import { inOrg, queryRow, type Tx } from '../../../platform/db/db.ts';
import { appError, fieldError } from '../../../platform/lib/errors.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import { ModelError } from '../../../platform/models/model-error.ts';
import type { Caller } from '../../../platform/http/caller.ts';
import type { ConnectionFor } from '../../connections/open-connection.ts';
import { findPromptText } from '../../detections/history/history.store.ts';
import { checkModelAlias } from '../../detections/record/build-detection.ts';
import type { Definition } from '../../detections/record/detection-record.ts';
import type { DetectionKey } from '../../scheduling/timeline.ts';
import { SiemError } from '../../siem/connector.ts';
import type { Verdict } from '../../verdicts/verdict.ts';
import { createTrialRun, type ActiveRun } from '../run-model/active-run.ts';
import { listRunCandidates, type StoredCandidate } from '../judging/candidates.store.ts';
import type { Judge } from '../judging/judge.ts';
import type { JudgeDeps } from '../judging/model/model-judge.ts';
import { createTrialJudge } from '../judging/trial-judge.ts';
import { findRun } from '../run-model/runs.store.ts';
import type { Replay, ReplayRequest, VerdictComparison } from '../run-model/run-details.schema.ts';

export type ReplayDeps = JudgeDeps & { connectionFor: ConnectionFor };

const replayMsMax = 110_000;

/**
 * Judges the stored candidates of a run again, under another prompt version or model, and returns both verdicts. Stores only
 * the spend. Stops after 110 seconds with the results so far. Throws `conflict` if the run has no candidates.
 */
export async function replayRun(deps: ReplayDeps, caller: Caller, id: string, request: ReplayRequest): Promise<Replay> {
  checkModelAlias(deps.models, request.modelAlias);
  return replayCandidates(deps, { orgId: caller.orgId, id, request }, AbortSignal.timeout(replayMsMax));
}

type RunReplay = { orgId: OrgId; id: string; request: ReplayRequest };

/** Like `replayRun`, until the caller's signal aborts. */
export async function replayCandidates(deps: ReplayDeps, replay: RunReplay, signal: AbortSignal): Promise<Replay> {
  const { run, candidates, total } = await inOrg(deps.db, replay.orgId, (tx) => prepareReplay(tx, deps, replay));
  const { judge } = createTrialJudge(deps, run);
  const context = { judge, signal };
  const compared: VerdictComparison[] = [];
  for (const candidate of candidates) {
    if (signal.aborted) break;
    compared.push(await compareVerdicts(candidate, context));
  }
  const { promptVersion, modelAlias } = run.definition;
  return { runId: replay.id, promptVersion, modelAlias, model: run.model, ...run.spent, candidates: total, compared };
}

type ComparisonContext = { judge: Judge['judge']; signal: AbortSignal };

async function compareVerdicts(
  candidate: StoredCandidate,
  { judge, signal }: ComparisonContext,
): Promise<VerdictComparison> {
  const { id: candidateId, entity } = candidate;
  const before = candidate.verdict;
  try {
    const { verdict: after } = await judge(candidate, signal);
    const differs = before ? listVerdictDifferences(before, after) : [];
    return { candidateId, entity, before, after, failure: null, differs };
  } catch (error) {
    const isModelError = error instanceof ModelError;
    if (!isModelError && !signal.aborted) throw error;
    const { kind, message } = isModelError
      ? error.failure
      : { kind: 'time_over', message: 'The replay exceeded its time limit.' };
    return { candidateId, entity, before, after: null, failure: { kind, message }, differs: [] };
  }
}

/** Returns the fields in which two verdicts differ in substance. Wording does not count, nor do observations, which each investigation numbers by its calls. */
export function listVerdictDifferences(a: Verdict, b: Verdict): string[] {
  const citations = ({ evidence }: Verdict): string =>
    JSON.stringify(
      evidence
        .filter(({ observation }) => !/^o\d+$/.test(observation))
        .map(({ observation, rowId, field }) => `${observation} ${rowId} ${field}`)
        .toSorted(),
    );
  return [
    ...(a.triggered === b.triggered ? [] : ['triggered']),
    ...(a.verdict === b.verdict ? [] : ['verdict']),
    ...(a.severity === b.severity ? [] : ['severity']),
    ...(Math.abs(a.confidence - b.confidence) < 10 ? [] : ['confidence']),
    ...(citations(a) === citations(b) ? [] : ['evidence']),
  ];
}

/** Returns a trial run with the run's definition, changed as requested, and the candidates to judge. */
async function prepareReplay(
  tx: Tx,
  { connectionFor }: Pick<ReplayDeps, 'connectionFor'>,
  { orgId, id, request }: RunReplay,
) {
  const run = await openReplay(tx, { connectionFor }, { orgId, id, request });
  const { candidates, total } = await listRunCandidates(tx, orgId, id, request.limit);
  if (candidates.length === 0) throw appError('conflict', `Run ${id} has no candidates to judge again.`);
  return { run, candidates, total };
}

/** Returns a trial run with the definition that a run pinned, changed as requested. */
export async function openReplay(
  tx: Tx,
  { connectionFor }: Pick<ReplayDeps, 'connectionFor'>,
  { orgId, id, request }: { orgId: OrgId; id: string; request: Pick<ReplayRequest, 'promptVersion' | 'modelAlias'> },
): Promise<ActiveRun> {
  const row = await findRun(tx, orgId, id);
  if (!row) throw appError('not_found', `Run ${id} not found.`);
  const detection = { orgId, detectionId: row.detectionId };
  const { promptVersion, modelAlias } = request;
  const definition: Definition = {
    ...(await getPinnedDefinition(tx, detection, row.revision)),
    ...(promptVersion === undefined ? {} : await getPrompt(tx, detection, promptVersion)),
    ...(modelAlias === undefined ? {} : { modelAlias }),
  };
  const connection = await connectionFor(orgId, definition, tx).catch((error: Error) => {
    throw error instanceof SiemError ? appError('conflict', error.message) : error;
  });
  const clock = row.onEventTime ? 'event' : 'ingest';
  return createTrialRun({ ...detection, definition }, { connection, clock, model: 'analyst', at: row.dueAt });
}

async function getPinnedDefinition(
  tx: Tx,
  { orgId, detectionId }: DetectionKey,
  revision: number | null,
): Promise<Definition> {
  const row = await queryRow<{ definition: string }>(tx)`
      select definition from agent_revisions where organization_id = ${orgId} and agent_id = ${detectionId} and revision = ${revision ?? 0}`;
  if (!row) throw appError('conflict', 'The run has not started yet.');
  return JSON.parse(row.definition) as Definition;
}

async function getPrompt(tx: Tx, detection: DetectionKey, version: number) {
  const prompt = await findPromptText(tx, { ...detection, version });
  if (!prompt) throw fieldError('/promptVersion', 'unknown_version', `The prompt has no version ${version}.`);
  return { ...prompt, promptVersion: version };
}
