import { sql } from 'kysely';
import { analystVerdict } from '../agent/analyst.ts';
import { ModelError, budgetExceeded } from '../agent/model-error.ts';
import { exhausted } from '../agent/budgets.ts';
import type { ModelRef } from '../agent/models.ts';
import type { Verdict } from '../agent/verdict.ts';
import { verifyVerdict } from '../agent/verify.ts';
import { noJudging } from '../agent/model-score.ts';
import { generationOf } from '../analysis/definition.ts';
import { inOrg, row, type Tx } from '../db/db.ts';
import { checkModelAlias } from '../detections/columns.ts';
import type { Definition } from '../detections/definition.ts';
import { appError, fieldError } from '../lib/errors.ts';
import type { Caller } from '../orgs/caller.ts';
import type { Replay, ReplayRequest } from './agent-schema.ts';
import { analysisOf } from './begin.ts';
import { listRunCandidates, type StoredCandidate } from './candidate-store.ts';
import type { Judge } from './judge.ts';
import { modelJudge } from './model-judge.ts';
import type { Purse } from './purse.ts';
import { findRun } from './read-store.ts';
import type { Run, RunDeps } from './run.ts';
import { countUsage, readUsage } from './usage-store.ts';

const replayMs = 110_000;

/**
 * Judges the stored candidates of a run again under another prompt version or model and shows both verdicts. Nothing is
 * stored but what it used up. Ends after 110 seconds with what there is by then; 409 for a run that has no candidates.
 */
export async function replayRun(deps: RunDeps, caller: Caller, id: string, input: ReplayRequest): Promise<Replay> {
  checkModelAlias(deps.models, input.modelAlias);
  const { run, candidates, total } = await inOrg(deps.db, caller.orgId, (tx) => readRun(tx, caller, id, input));
  const model = deps.models?.find(run.definition.modelAlias);
  if (model) run.model = model.name;
  const judge: Judge['judge'] = model
    ? modelJudge(deps, run, { model, purse: countingPurse(deps, run, model) }).judge
    : (candidate) => Promise.resolve(analystVerdict(candidate));
  const signal = AbortSignal.timeout(replayMs);
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

async function readRun(tx: Tx, { orgId }: Caller, id: string, input: ReplayRequest) {
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
  const analysis = analysisOf(definition);
  const run: Run = {
    claim: {
      orgId,
      runId: id,
      detectionId: found.detection_id,
      kind: 'replay',
      dueAt: found.due_at,
      attempt: 0,
      retries: 0,
      worker: '',
      resumed: false,
    },
    orgId,
    id,
    detectionId: found.detection_id,
    trigger: found.trigger,
    slotAt: found.slot_at,
    startedAt: found.started_at ?? found.due_at,
    windowFrom: found.window_from,
    windowTo: found.window_to,
    clock: found.on_event_time ? 'event' : 'ingest',
    definition,
    analysis,
    scope: { orgId, detectionId: found.detection_id, generation: generationOf(analysis) },
    model: 'analyst',
    customInstructions: null,
    spent: { tokens: 0, costUsd: 0 },
    progress: { windows: [], entities: [], warnings: [], phases: [], judging: { ...noJudging } },
  };
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

/** A purse that keeps no steps: budgets hold for a replay as for a run. */
function countingPurse(deps: RunDeps, run: Run, model: ModelRef): Purse {
  const begun = performance.now();
  return {
    admit: async () => {
      const stored = await inOrg(deps.db, run.orgId, (tx) => readUsage(tx, run, model.alias, deps.clock()));
      const over = exhausted(model.entry.budgets, { run: run.spent, runMs: performance.now() - begun, ...stored });
      if (over) throw budgetExceeded(over);
    },
    record: async ({ tokens: { input, output }, costUsd }) => {
      const tokens = input + output;
      if (tokens === 0) return;
      await inOrg(deps.db, run.orgId, (tx) =>
        countUsage(tx, run, { alias: model.alias, tokens, costUsd }, deps.clock()),
      );
      run.spent.tokens += tokens;
      run.spent.costUsd += costUsd;
    },
  };
}
