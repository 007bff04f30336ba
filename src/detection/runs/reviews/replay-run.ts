import { sql } from 'kysely';
import { ModelError } from '../../../platform/models/model-error.ts';
import type { Verdict } from '../../verdicts/verdict.ts';
import { verifyVerdict } from '../../verdicts/verification/verify-verdict.ts';
import { inOrg, row, type Tx } from '../../../platform/db/db.ts';
import { checkModelAlias } from '../../detections/record/detection-columns.ts';
import type { Definition } from '../../detections/record/definition.ts';
import { appError, fieldError } from '../../../platform/lib/errors.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import type { Caller } from '../../../platform/orgs/caller.ts';
import { SiemError } from '../../siem/connector.ts';
import type { Replay, ReplayRequest } from '../run-details.schema.ts';
import { rehearsedRun } from '../execution/analysis-definition.ts';
import { listRunCandidates, type StoredCandidate } from '../judging/candidates.store.ts';
import type { Judge } from '../judging/judge.ts';
import { rehearsalJudge } from '../judging/rehearsal-judge.ts';
import { findRun } from '../read-runs.store.ts';
import type { RunDeps } from '../run-types.ts';

const replayMs = 110_000;

/**
 * Judges the stored candidates of a run again under another prompt version or model and shows both verdicts. Nothing is
 * stored but what it used up. Ends after 110 seconds with what there is by then; 409 for a run that has no candidates.
 */
export async function replayRun(deps: RunDeps, caller: Caller, id: string, input: ReplayRequest): Promise<Replay> {
  checkModelAlias(deps.models, input.modelAlias);
  return judgeAgain(deps, { orgId: caller.orgId, id, input }, AbortSignal.timeout(replayMs));
}

/** The same for whoever has a signal of their own. */
export async function judgeAgain(
  deps: RunDeps,
  { orgId, id, input }: { orgId: OrgId; id: string; input: ReplayRequest },
  signal: AbortSignal,
): Promise<Replay> {
  const { run, candidates, total } = await inOrg(deps.db, orgId, (tx) => readRun(tx, deps, { orgId, id, input }));
  const { judge } = rehearsalJudge(deps, run);
  const compared: Replay['compared'] = [];
  for (const candidate of candidates) {
    if (signal.aborted) break;
    compared.push(await compare(candidate, judge, signal));
  }
  const { promptVersion, modelAlias } = run.definition;
  return { runId: id, promptVersion, modelAlias, model: run.model, ...run.spent, candidates: total, compared };
}

async function compare(candidate: StoredCandidate, judge: Judge['judge'], signal: AbortSignal) {
  const { id, entity } = candidate;
  const before = candidate.verdict && verifyVerdict(candidate.verdict, candidate).verdict;
  try {
    const after = verifyVerdict(await judge(candidate, signal), candidate).verdict;
    return { candidateId: id, entity, before, after, failure: null, differs: before ? differences(before, after) : [] };
  } catch (error) {
    const isOurs = error instanceof ModelError;
    if (!isOurs && !signal.aborted) throw error;
    const failure = isOurs ? error.failure : { kind: 'time_over', message: 'The replay took too long.' };
    return {
      candidateId: id,
      entity,
      before,
      after: null,
      failure: { kind: failure.kind, message: failure.message },
      differs: [],
    };
  }
}

/** What a reader should look at: a change of mind, not of wording. */
export function differences(a: Verdict, b: Verdict): string[] {
  const cited = ({ evidence }: Verdict): string =>
    JSON.stringify(evidence.map(({ rowId, field }) => `${rowId} ${field}`).toSorted());
  return [
    ...(a.triggered === b.triggered ? [] : ['triggered']),
    ...(a.severity === b.severity ? [] : ['severity']),
    ...(Math.abs(a.confidence - b.confidence) < 10 ? [] : ['confidence']),
    ...(cited(a) === cited(b) ? [] : ['evidence']),
  ];
}

async function readRun(
  tx: Tx,
  { connectionFor }: Pick<RunDeps, 'connectionFor'>,
  { orgId, id, input }: { orgId: OrgId; id: string; input: ReplayRequest },
) {
  const found = await findRun(tx, orgId, id);
  if (!found) throw appError('not_found', `Run ${id} not found.`);
  const { candidates, total } = await listRunCandidates(tx, orgId, id, input.limit);
  if (candidates.length === 0) throw appError('conflict', `Run ${id} has no candidates to judge again.`);
  const stored = await readDefinition(tx, { orgId, detectionId: found.detection_id, revision: found.revision });
  const prompt =
    input.promptVersion === undefined
      ? null
      : await readPrompt(tx, { orgId, detectionId: found.detection_id, version: input.promptVersion });
  const definition: Definition = {
    ...stored,
    ...prompt,
    ...(input.modelAlias === undefined ? {} : { modelAlias: input.modelAlias }),
  };
  const of = { orgId, detectionId: found.detection_id, definition };
  const connection = await connectionFor(orgId, definition, tx).catch((error: Error) => {
    throw error instanceof SiemError ? appError('conflict', error.message) : error;
  });
  const clock = found.on_event_time ? 'event' : 'ingest';
  const run = rehearsedRun(of, { connection, clock, model: 'analyst', at: found.due_at });
  return { run, candidates, total };
}

type Revision = { orgId: Caller['orgId']; detectionId: string; revision: number | null };

async function readDefinition(tx: Tx, { orgId, detectionId, revision }: Revision): Promise<Definition> {
  const found = await row(
    tx,
    sql<{ definition: string }>`
      select definition from agent_revisions where organization_id = ${orgId} and agent_id = ${detectionId} and revision = ${revision ?? 0}`,
  );
  if (!found) throw appError('conflict', 'The run has not begun.');
  return JSON.parse(found.definition) as Definition;
}

async function readPrompt(tx: Tx, at: { orgId: Caller['orgId']; detectionId: string; version: number }) {
  const found = await row(
    tx,
    sql<{ systemPrompt: string; promptVersion: number; promptId: string }>`
      select prompt as "systemPrompt", version as "promptVersion", id as "promptId" from agent_prompts
      where organization_id = ${at.orgId} and agent_id = ${at.detectionId} and version = ${at.version}`,
  );
  if (!found) throw fieldError('/promptVersion', 'unknown_version', `There is no prompt version ${at.version}.`);
  return found;
}
