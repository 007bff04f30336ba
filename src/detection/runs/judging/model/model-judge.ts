import { inOrg } from '../../../../platform/db/db.ts';
import {
  isBudgetExceeded,
  isUnusableAnswer,
  ModelError,
  modelAuthorError,
  upstreamModelError,
} from '../../../../platform/models/model-error.ts';
import { modelResponds } from '../../../../platform/models/model-pauses.ts';
import { findModelPause } from '../../../../platform/models/model-pauses.store.ts';
import { builtInAliases, findCheapest, type ConfiguredModel, type Models } from '../../../../platform/models/models.ts';
import type { RunSpendMeter } from '../../../../platform/models/spend-meter.ts';
import { type Candidate, incidentType, isSeverityAtLeast } from '../../../analysis/candidate.ts';
import { withoutHiddenRule } from '../../../analysis/severity-rules.ts';
import { verdictSchema } from '../../../detections/record/field-schemas.ts';
import type { Definition } from '../../../detections/record/detection-record.ts';
import { findToolWarnings } from '../../../detections/record/warnings.ts';
import { readAgentSettings } from '../../../detections/agent-settings/agent-settings.store.ts';
import { computeAnalystConfidence } from '../../../verdicts/analyst/analyst.ts';
import { describeCandidate } from '../../../verdicts/analyst/wording.ts';
import { concludeFrom, decideVerdict, findExcuses, type CheckedCase } from '../../../verdicts/claims/decide-verdict.ts';
import { listFieldNames, maskCase } from '../../../verdicts/claims/mask-case.ts';
import { loadAttachedSkills, renderSkillList } from '../../../skills/skill-files.ts';
import { withoutHiddenFields } from '../../../siem/hidden-data.ts';
import { createVerifier } from '../../../verdicts/investigation/ask-verifier.ts';
import { confirmsDismissal } from '../../../verdicts/investigation/confirm-dismissal.ts';
import { investigate } from '../../../verdicts/investigation/investigate.ts';
import { createSubmissionFormat, type SubmissionFormat } from '../../../verdicts/investigation/submission.ts';
import type { JudgeDefinition } from '../../../verdicts/investigation/task.ts';
import { isResponseKind } from '../../../scheduling/run-claim.ts';
import { isUnverified, type Conclusion } from '../../../verdicts/verdict.ts';
import type { ActiveRun } from '../../run-model/active-run.ts';
import { addWarning } from '../../run-model/run-progress.ts';
import { aboutCase, createAnalyst, type Judge, type Judged, type OpenCase } from '../judge.ts';
import { toDetectionTexts } from '../resolutions/resolve-candidates.ts';
import { createInvestigatingAnalyst } from './investigating-analyst.ts';
import { enrichCase, readActiveIndicators, readCaseFile, readQueryLiterals } from './read-case-file.ts';
import { bindTools, type BindToolsDeps, listSkills } from './bind-tools.ts';
import { findEstablished } from './established-values.ts';
import { createRunSpendMeter, runBudgets } from './run-spend.ts';

/** Without `models` only the built-in analyst judges. */
export type JudgeDeps = BindToolsDeps & { models?: Models };

/** The alias of the model that verifies claims. Without it, the model of the detection does so in a fresh context. */
export const verifierAlias = 'verifier';

type CreateMeter = (model: ConfiguredModel) => RunSpendMeter;

/** Creates the judge of a run from its model alias. The built-in analyst also asks the questions of its category, unless `planningMode` is `never`. An alias that cannot judge makes the first verdict fail, not this call. */
export function createJudge(deps: JudgeDeps, run: ActiveRun): Judge {
  const { modelAlias, planningMode } = run.definition;
  if (isAnalyst(deps, modelAlias) && planningMode !== 'never') return createInvestigatingAnalyst(deps, run);
  return createJudgeWithMeter(deps, run, (model) => createRunSpendMeter(deps, run, model));
}

const isAnalyst = ({ models }: JudgeDeps, alias: string): boolean =>
  builtInAliases.includes(alias) && models?.find(alias) === undefined;

/** Like `createJudge`, with the caller's spend meter. */
export function createJudgeWithMeter(deps: JudgeDeps, run: ActiveRun, createMeter: CreateMeter): Judge {
  const alias = run.definition.modelAlias;
  const model = deps.models?.find(alias);
  if (model) return createModelJudge(deps, run, model, createMeter);
  if (isAnalyst(deps, alias)) return createAnalyst(run.definition);
  return { model: alias, instant: false, judge: () => Promise.reject(unknownAliasError(alias)) };
}

const unknownAliasError = (alias: string): ModelError =>
  upstreamModelError('unknown_model_alias', `The model alias "${alias}" is not configured.`, {
    retryable: false,
    pauses: false,
  });

/** Returns the model of an agent that cannot work without one. Throws a ModelError if its alias is not configured. */
export function requireModel({ models }: JudgeDeps, { definition }: ActiveRun): ConfiguredModel {
  const model = models?.find(definition.modelAlias);
  if (!model) throw unknownAliasError(definition.modelAlias);
  return model;
}

/** A model with the meter that checks its budgets and stores its steps. */
type MeteredModel = { model: ConfiguredModel; meter: RunSpendMeter };

/**
 * Creates a judge that lets a model investigate each candidate in a conversation of its own. What it leaves undecided is investigated once more by the model
 * to which it escalates.
 */
export function createModelJudge(
  deps: JudgeDeps,
  run: ActiveRun,
  model: ConfiguredModel,
  createMeter: CreateMeter = (one) => createRunSpendMeter(deps, run, one),
): Judge {
  const meterOf = (one: ConfiguredModel): MeteredModel => ({ model: one, meter: createMeter(one) });
  const judge = meterOf(model);
  const escalation = model.escalation && meterOf(model.escalation);
  const other = deps.models?.find(verifierAlias);
  const verifier = other && meterOf(other);
  const cheapest = findCheapest(model);
  const confirmer = cheapest === model ? judge : meterOf(cheapest);
  // Compiling it takes milliseconds, and an invalid schema of the author fails the first verdict.
  let format: SubmissionFormat | undefined;
  // Thousands of queries, which only a dismissal needs.
  let literals: Promise<string[]> | undefined;
  const listQueryLiterals = (): Promise<string[]> => (literals ??= readQueryLiterals(deps, run.orgId, searchOf(run)));
  const judgeWith = async (
    by: MeteredModel,
    candidate: OpenCase,
    { callsBefore, signal }: Attempt,
  ): Promise<Judged> => {
    await refusePausedModel(deps, run, by.model);
    const forCase = ({ model: one, meter }: MeteredModel): MeteredModel => ({
      model: one,
      meter: { startConversation: () => meter.startConversation(aboutCase(candidate)) },
    });
    format ??= createSubmissionFormat(verdictSchema, run.definition.structuredOutputSchema);
    return judgeWithModel(deps, run, candidate, {
      judge: forCase(by),
      verifier: forCase(verifier ?? by),
      confirmer: forCase(confirmer),
      format,
      listQueryLiterals,
      callsBefore,
      signal,
    });
  };
  return {
    model: model.name,
    instant: false,
    entitiesAtOnce: model.entry.entitiesAtOnce,
    responds: (signal) => modelResponds(model, signal),
    judge: async (candidate, signal) => {
      const judged = await judgeWith(judge, candidate, { callsBefore: 0, signal });
      const isOpen = judged.verdict.verdict === 'undecided' && !judged.verdict.claims.some(isUnverified);
      if (!escalation || !isOpen) return judged;
      const callsBefore = judged.trace?.toolCalls ?? 0;
      return judgeWith(escalation, candidate, { callsBefore, signal }).catch((error: unknown) => {
        if (!(error instanceof ModelError) || error.failure.retryable) throw error;
        const detail = `The alias "${escalation.model.alias}" decided nothing, so that cases stay undecided: ${error.message}`;
        addWarning(run.progress, 'escalation_failed', detail);
        return judged;
      });
    },
  };
}

type Attempt = Pick<JudgingModels, 'callsBefore' | 'signal'>;

/** `confirmer` answers the second question about a dismissal. */
type JudgingModels = Record<'judge' | 'verifier' | 'confirmer', MeteredModel> & {
  /** The tool calls of the model that left the candidate undecided. */
  callsBefore: number;
  format: SubmissionFormat;
  /** Returns what queries look for inside of values, which is the same for all candidates of a run. */
  listQueryLiterals: () => Promise<string[]>;
  signal: AbortSignal;
};

async function judgeWithModel(
  deps: JudgeDeps,
  run: ActiveRun,
  candidate: Candidate,
  { judge, verifier, confirmer, format, listQueryLiterals, callsBefore, signal }: JudgingModels,
): Promise<Judged> {
  const { toolNames } = run.definition;
  const [toolWarning] = findToolWarnings(toolNames);
  if (toolWarning) throw modelAuthorError(toolWarning.code, toolWarning.detail);
  const isTechnique = createTechniqueCheck(deps, run);
  const isVerifierOn = judge.model.entry.verifyClaims;
  const { hidden } = await inOrg(deps.db, run.orgId, (tx) => readAgentSettings(tx, run.orgId));
  const shown = withoutHiddenRule({ ...candidate, rows: withoutHiddenFields(candidate.rows, hidden) }, hidden);
  const skills = await loadAttachedSkills(deps.db, run.orgId, listSkills(run.definition));
  const knownFile = await readCaseFile(deps, run, shown);
  const meter = judge.meter.startConversation();
  const observedBefore = await enrichCase(deps, run, shown, { recordStep: meter.recordStep, callsBefore, signal });
  const { submission, checks, headline, isEstablished, observations, trace } = await investigate({
    ...meter,
    model: judge.model,
    definition: toJudgeDefinition(run, renderSkillList(skills)),
    file: knownFile,
    format,
    tools: await bindTools(deps, run, shown),
    stepsMax: runBudgets(run, judge.model).stepsPerEntity,
    callsBefore: callsBefore + observedBefore.length,
    observedBefore,
    verify: isVerifierOn ? createVerifier({ ...verifier, entity: candidate.entity, signal }) : undefined,
    establish: (file, cells) => findEstablished(deps, run, { file, cells, signal }),
    isTechnique,
    signal,
  });
  const file = { ...knownFile, observations };
  const checked: CheckedCase = {
    submission,
    checks,
    headline,
    file,
    isVerifierOn,
    dismissConfidence: run.definition.dismissConfidence,
    onUndecided: run.definition.onUndecided,
    isEstablished,
    isTechnique,
    fallback: toFallback(run, candidate),
  };
  if (checks.some(({ claim }) => isUnverified(claim))) addWarning(run.progress, 'claims_unverified', unverifiedWarning);
  const conclusion = await concludeCase(deps, run, { checked, confirmer, listQueryLiterals, signal });
  return { ...decideVerdict(checked, conclusion), observations, trace };
}

const unverifiedWarning =
  'A budget was used up before claims were verified or a dismissal was confirmed. These cases are undecided, with what the judge found.';

const toJudgeDefinition = (
  { definition, customInstructions, event, trigger, hitDetection }: ActiveRun,
  skillList: string,
): JudgeDefinition => ({
  ...definition,
  customInstructions,
  skillList,
  isResponse: isResponseKind(trigger),
  foundBy: hitDetection && {
    name: hitDetection.name,
    description: hitDetection.description,
    category: hitDetection.detectionCategory,
    query: hitDetection.detectionQuery,
    instructions: hitDetection.systemPrompt,
  },
  inputs: definition.inputs.map(({ name, description }) => ({ name, description, value: event?.inputs[name] ?? null })),
});

/** Returns the definition of the detection that found the case of a run. */
const searchOf = ({ hitDetection, definition }: ActiveRun): Definition => hitDetection ?? definition;

function toFallback(run: ActiveRun, candidate: Candidate): CheckedCase['fallback'] {
  const { headline, sentences, nextStep } = describeCandidate(
    candidate,
    toDetectionTexts({ ...run, definition: searchOf(run) }),
  );
  // An incident has a title.
  const title = candidate.entityType === incidentType ? candidate.entity : headline;
  return { headline: title, summary: sentences.join(' '), nextStep, confidence: computeAnalystConfidence(candidate) };
}

/** ATT&CK is known where the feed is. */
function createTechniqueCheck({ feedTools }: JudgeDeps, { orgId }: ActiveRun): CheckedCase['isTechnique'] {
  const lookup = feedTools?.(orgId).lookupTechnique;
  return lookup && ((id) => lookup(id) !== undefined);
}

type Confirmation = Pick<JudgingModels, 'confirmer' | 'listQueryLiterals' | 'signal'> & { checked: CheckedCase };

/**
 * Returns the conclusion that the proof allows. A dismissal counts only if the model dismisses the case again without the values that an
 * attacker could have written. A model without a usable answer or with an exhausted budget then leaves the case undecided. Any other failure is thrown.
 */
async function concludeCase(
  deps: JudgeDeps,
  run: ActiveRun,
  { checked, confirmer, listQueryLiterals, signal }: Confirmation,
): Promise<Conclusion> {
  const conclusion = concludeFrom(checked);
  const { candidate } = checked.file;
  // Such a case stays a hit whatever the judge says, but a response agent would propose that it is benign.
  const isKept = run.hitDetection === undefined && isSeverityAtLeast(candidate.severity, 'high');
  if (conclusion !== 'dismiss' || isKept) return conclusion;
  const masked = maskCase(checked.file, {
    isEstablished: checked.isEstablished,
    lookedFor: [...(await listQueryLiterals()), ...(await readActiveIndicators(deps, run.orgId, checked.file))],
    knownFields: listFieldNames(searchOf(run).detectionQuery),
  });
  const isConfirmed = await confirmsDismissal({
    model: confirmer.model,
    meter: confirmer.meter.startConversation(),
    definition: searchOf(run),
    masked,
    excuses: findExcuses(checked),
    entity: candidate.entity,
    signal,
  }).catch((error: unknown) => {
    if (isBudgetExceeded(error)) addWarning(run.progress, 'claims_unverified', unverifiedWarning);
    else if (!(error instanceof ModelError) || !isUnusableAnswer(error.failure)) throw error;
    return false;
  });
  return isConfirmed ? 'dismiss' : 'undecided';
}

async function refusePausedModel(deps: JudgeDeps, run: ActiveRun, { alias }: ConfiguredModel): Promise<void> {
  const pause = await inOrg(deps.db, run.orgId, (tx) => findModelPause(tx, run.orgId, alias));
  if (!pause) return;
  const message = `The model alias "${alias}" has been paused since ${pause.since_at.toISOString()}: ${pause.message}`;
  throw upstreamModelError('model_paused', message, { retryable: false, pauses: false });
}
