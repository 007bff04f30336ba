import { inOrg } from '../../../../platform/db/db.ts';
import { modelAuthorError, upstreamModelError } from '../../../../platform/models/model-error.ts';
import { modelResponds } from '../../../../platform/models/model-pauses.ts';
import { findModelPause } from '../../../../platform/models/model-pauses.store.ts';
import { builtInAliases, type ConfiguredModel, type Models } from '../../../../platform/models/models.ts';
import type { ModelTool } from '../../../../platform/models/model-tool.ts';
import type { RunSpendMeter } from '../../../../platform/models/spend-meter.ts';
import type { Candidate } from '../../../analysis/candidate.ts';
import { verdictSchema } from '../../../detections/record/field-schemas.ts';
import { findToolWarnings } from '../../../detections/record/warnings.ts';
import { confirmVerdict } from '../../../verdicts/model/confirm-verdict.ts';
import { hasOutsideText, withoutOutside } from '../../../verdicts/model/entity-context.ts';
import { judgeEntity } from '../../../verdicts/model/judge-entity.ts';
import { allowsTogether, isSmallCase, judgeTogether, togetherMax } from '../../../verdicts/model/judge-together.ts';
import { screenCandidate } from '../../../verdicts/planted-text/screen-candidate.ts';
import { createVerdictOutput } from '../../../verdicts/model/verdict-output.ts';
import type { Verdict } from '../../../verdicts/verdict.ts';
import type { ActiveRun } from '../../run-model/active-run.ts';
import { addWarning } from '../../run-model/run-progress.ts';
import { bindTools, listToolNames, type BindToolsDeps } from './bind-tools.ts';
import { readEntityContext } from './entity-context.ts';
import { createAnalyst, type Judge } from '../judge.ts';
import { createRunSpendMeter, runBudgets } from './run-spend.ts';
import { createBudgetForecast } from './tight-budget.ts';

/** Without `models` only the built-in analyst judges. */
export type JudgeDeps = BindToolsDeps & { models?: Models };

/** Creates the judge of a run from its model alias. An alias that cannot judge makes the first verdict fail, not this call. */
export function createJudge(deps: JudgeDeps, run: ActiveRun): Judge {
  return createJudgeWithMeter(deps, run, (model) => createRunSpendMeter(deps, run, model));
}

/** Like `createJudge`, with the caller's spend meter. */
export function createJudgeWithMeter(
  deps: JudgeDeps,
  run: ActiveRun,
  createMeter: (model: ConfiguredModel) => RunSpendMeter,
): Judge {
  const alias = run.definition.modelAlias;
  const model = deps.models?.find(alias);
  if (model) return createModelJudge(deps, run, { model, meter: createMeter(model) });
  if (builtInAliases.includes(alias)) return createAnalyst(run.definition);
  const error = upstreamModelError('unknown_model_alias', `The model alias "${alias}" is not configured.`, {
    retryable: false,
    pauses: false,
  });
  return { model: alias, instant: false, judge: () => Promise.reject(error) };
}

/**
 * Creates a judge that calls a model, in one conversation per entity, or in one call for several small entities where the budget of
 * the run is tight. `meter` checks its budgets and stores its steps.
 */
function createModelJudge(
  deps: JudgeDeps,
  run: ActiveRun,
  { model, meter }: { model: ConfiguredModel; meter: RunSpendMeter },
): Judge {
  const budgets = runBudgets(run, model);
  const forecast = createBudgetForecast(run.spent, budgets);
  const definition = { ...run.definition, customInstructions: run.customInstructions };
  const { toolNames, structuredOutputSchema } = run.definition;
  const createOutput = () => createVerdictOutput(verdictSchema, structuredOutputSchema);
  const mayShare = allowsTogether(definition, listToolNames(run.definition), structuredOutputSchema);
  return {
    model: model.name,
    instant: false,
    entitiesAtOnce: model.entry.entitiesAtOnce,
    responds: (signal) => modelResponds(model, signal),
    judge: async (candidate, signal) => {
      await refusePausedModel(deps, run, model);
      const [toolWarning] = findToolWarnings(toolNames);
      if (toolWarning) throw modelAuthorError(toolWarning.code, toolWarning.detail);
      const context = await readEntityContext(deps, run, candidate);
      const tools = limitTools(await bindTools(deps, run, candidate), candidate);
      const shared = { model, definition, stepsMax: budgets.stepsPerEntity, signal };
      const first = await judgeEntity({
        ...shared,
        candidate,
        context,
        output: createOutput(),
        tools,
        ...meter.startConversation(),
      });
      const ownTools = tools.flatMap(({ name, origin }) => (origin === 'organization' ? name : []));
      const verdict = await confirmVerdict(first, candidate, async (bare) =>
        judgeEntity({
          ...shared,
          candidate: bare,
          context: withoutOutside(context),
          output: createOutput(),
          tools: await bindTools(deps, run, bare, ownTools),
          ...meter.startConversation(),
        }),
      );
      forecast.addVerdicts(1);
      return reportInstructions(run, candidate, verdict);
    },
    together: {
      count: (candidates, pending) => {
        if (!mayShare || !forecast.isTight(pending)) return 1;
        const firstLarge = candidates.slice(0, togetherMax).findIndex((candidate) => !isSmallCase(candidate));
        return firstLarge === -1 ? Math.min(candidates.length, togetherMax) : firstLarge;
      },
      judge: async (candidates, signal) => {
        await refusePausedModel(deps, run, model);
        const all = await Promise.all(
          candidates.map(async (candidate) => ({ candidate, context: await readEntityContext(deps, run, candidate) })),
        );
        // Text from outside about one entity must not influence the verdicts on the others.
        const cases = all.filter(({ context }) => !hasOutsideText(context));
        if (cases.length === 0) return candidates.map(() => undefined);
        const task = { model, definition, cases, output: createOutput(), ...meter.startConversation(), signal };
        const verdicts = await judgeTogether(task);
        forecast.addVerdicts(verdicts.filter((verdict) => verdict !== undefined).length);
        const verdictOf = new Map(cases.map(({ candidate }, index) => [candidate, verdicts[index]]));
        return candidates.map((candidate) => verdictOf.get(candidate));
      },
    },
  };
}

async function refusePausedModel(deps: JudgeDeps, run: ActiveRun, { alias }: ConfiguredModel): Promise<void> {
  const pause = await inOrg(deps.db, run.orgId, (tx) => findModelPause(tx, run.orgId, alias));
  if (!pause) return;
  const message = `The model alias "${alias}" has been paused since ${pause.since_at.toISOString()}: ${pause.message}`;
  throw upstreamModelError('model_paused', message, { retryable: false, pauses: false });
}

/** Withholds tools that send data from the judge of a candidate whose rows contain text addressed to a model. */
function limitTools(tools: ModelTool[], candidate: Candidate): ModelTool[] {
  const { planted } = screenCandidate(candidate);
  return planted.length === 0 ? tools : tools.filter(({ effect }) => effect !== 'send');
}

/** Adds a warning if rows contain text addressed to a model, independently of what the model concludes. */
function reportInstructions(run: ActiveRun, { entity }: Candidate, verdict: Verdict): Verdict {
  if (!verdict.trace || verdict.trace.instructions === 0) return verdict;
  addWarning(
    run.progress,
    'instructions_in_rows',
    `Rows of ${entity.slice(0, 200)} contain text that reads like instructions to a model.`,
  );
  return verdict;
}
