import { judgeEntity } from '../../verdicts/model/judge-entity.ts';
import { authorError, upstreamError } from '../../../platform/models/model-error.ts';
import { builtInAliases, type ModelRef } from '../../../platform/models/models.ts';
import type { Verdict } from '../../verdicts/verdict.ts';
import { verdictOutput } from '../../verdicts/model/verdict-output.ts';
import type { Candidate } from '../../analysis/candidate.ts';
import { verdictSchema } from '../../detections/record/verdict.schema.ts';
import { toolWarnings } from '../../detections/record/warnings.ts';
import { analyst, type Judge } from './judge.ts';
import { findPause } from '../../../platform/models/model-pauses.ts';
import { budgetsOf } from './budget-check.ts';
import { openPurse, type Purse } from './run-spend.ts';
import { warn, type Run, type RunDeps } from '../run-types.ts';
import { bindTools } from './bind-tools.ts';

/** The judge that a detection's alias stands for. What keeps a model from judging is thrown at the first candidate, not before. */
export function judgeFor(deps: RunDeps, run: Run): Judge {
  return judgeBy(deps, run, (model) => openPurse(deps, run, model));
}

/** The same with a purse of the caller's. */
export function judgeBy(deps: RunDeps, run: Run, purseOf: (model: ModelRef) => Purse): Judge {
  const alias = run.definition.modelAlias;
  const model = deps.models?.find(alias);
  if (model) return modelJudge(deps, run, { model, purse: purseOf(model) });
  if (builtInAliases.includes(alias)) return analyst;
  const missing = upstreamError('unknown_model_alias', `There is no model alias "${alias}" in the settings.`, {
    retryable: false,
    pauses: false,
  });
  return { model: alias, instant: false, judge: () => Promise.reject(missing) };
}

/** A judge that lets a model look at one entity at a time. `purse` says what it may spend, and keeps its steps. */
function modelJudge(deps: RunDeps, run: Run, by: { model: ModelRef; purse: Purse }): Judge {
  const { model, purse } = by;
  return {
    model: model.name,
    instant: false,
    judge: async (candidate, signal) => {
      await refusePaused(deps, run, model);
      const [unknown] = toolWarnings(run.definition.toolNames);
      if (unknown) throw authorError(unknown.code, unknown.detail);
      const verdict = await judgeEntity({
        model,
        definition: { ...run.definition, customInstructions: run.customInstructions },
        candidate,
        output: verdictOutput(verdictSchema, run.definition.structuredOutputSchema),
        tools: await bindTools(deps, run, candidate),
        stepsMax: budgetsOf(run, model).stepsPerEntity,
        ...purse,
        signal,
      });
      return withFinding(run, candidate, verdict);
    },
  };
}

async function refusePaused(deps: RunDeps, run: Run, { alias }: ModelRef): Promise<void> {
  const pause = await findPause(deps, run.orgId, alias);
  if (!pause) return;
  const message = `The model alias "${alias}" is paused since ${pause.since_at.toISOString()}: ${pause.message}`;
  throw upstreamError('model_paused', message, { retryable: false, pauses: false });
}

const finding = 'Its rows hold text that reads like instructions to a model.';

/** Told by code, whatever the model says: an entity whose rows try to steer a model is worth knowing of. */
function withFinding(run: Run, { entity }: Candidate, verdict: Verdict): Verdict {
  if (!verdict.trace || verdict.trace.instructions === 0) return verdict;
  warn(
    run.progress,
    'instructions_in_rows',
    `Rows of ${entity.slice(0, 200)} hold text that reads like instructions to a model.`,
  );
  return { ...verdict, summary: `${verdict.summary.trim()} ${finding}`.trim() };
}
