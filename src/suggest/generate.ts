import type { Spent } from '../agent/budgets.ts';
import { ModelError } from '../agent/model-error.ts';
import { inOrg } from '../db/db.ts';
import type { Deps } from '../deps.ts';
import type { Estimate, Warning } from '../detections/schema.ts';
import { toolWarnings } from '../detections/warnings.ts';
import { appError } from '../lib/errors.ts';
import { uuidv7 } from '../lib/ids.ts';
import { listDatasets } from '../logs/datasets.ts';
import type { Caller } from '../orgs/caller.ts';
import { failureAsError } from '../proof/failure.ts';
import type { Draft } from './draft.ts';
import { fittingDrafts, missingFor, techniquesIn } from './intent.ts';
import type { Dataset } from './logs.ts';
import { draftByModel } from './model-draft.ts';
import { proveDraft } from './prove.ts';
import { openPurse } from './purse.ts';
import type { Generated, GenerateRequest } from './schema.ts';
import { findResearcher } from './store.ts';

const triesMax = 5;
const modelMs = 100_000;

type Made = { draft: Draft; estimate: Estimate; steps: string[]; matched: string[]; spent: Spent; warnings: Warning[] };

/**
 * Writes a detection for an intent and runs it over the organization's logs; stores nothing. The model behind the alias `default`
 * writes it where there is one, else, or if that fails, the best shipped detection or query template. 422 where nothing fits.
 */
export async function generateDetection(deps: Deps, caller: Caller, input: GenerateRequest): Promise<Generated> {
  const { intent, siemType = null, toolNames } = input;
  if (siemType !== null && siemType.toLowerCase() !== 'local')
    throw refusal(
      '/siemType',
      'no_connection',
      `Only the logs of the embedded store are known well enough, not "${siemType}".`,
    );
  const { datasets } = await listDatasets(deps, caller.orgId);
  if (datasets.length === 0)
    throw refusal(
      '/intent',
      'no_logs',
      'There are no logs to detect anything in; send some to POST /api/logs/{dataset}.',
    );
  const made =
    (await byModel(deps, caller, { intent, datasets })) ?? (await byRules(deps, caller, { intent, datasets }));
  const { draft, estimate, steps, matched, spent, warnings } = made;
  const { body, tests, technique, basis } = draft;
  const tools = toolNames ?? [];
  return {
    steps,
    name: body.name,
    description: body.description ?? '',
    detectionCategory: body.detectionCategory,
    systemPrompt: body.systemPrompt,
    detectionQuery: body.detectionQuery,
    detectionCadence: body.detectionCadence ?? 'hourly',
    entityField: body.entityField ?? 'entity',
    siemType,
    toolNames: tools,
    tags: body.tags ?? [],
    tests,
    technique,
    basedOn: { ...basis, matched },
    estimate,
    warnings: [...warnings, ...toolWarnings(tools)],
    ...spent,
  };
}

type Asked = { intent: string; datasets: Dataset[]; failed?: ModelError };

/** Undefined where there is no model, or where what the model could not do the rules can. */
async function byModel(deps: Deps, caller: Caller, asked: Asked): Promise<Made | undefined> {
  const model = deps.models?.find('default');
  if (!model) return undefined;
  const { agentId, prompt, budgets } = await inOrg(deps.db, caller.orgId, (tx) => findResearcher(tx, caller.orgId));
  const purse = openPurse(deps, { orgId: caller.orgId, agentId, runId: uuidv7(), budgets, keepsSteps: false }, model);
  const ask = (): string => `Write one detection for this: ${asked.intent}`;
  const { datasets } = asked;
  const signal = AbortSignal.timeout(modelMs);
  try {
    const found = await draftByModel(deps, caller, { model, purse, prompt, datasets, signal, about: 'intent', ask });
    return { ...found, matched: [], spent: purse.spent, warnings: [] };
  } catch (error) {
    if (!(error instanceof ModelError) && !signal.aborted) throw error;
    const failed = failureAsError(error);
    const detail = error instanceof ModelError ? error.failure.message : 'The model took too long.';
    const made = await byRules(deps, caller, asked).catch(() => {
      throw error instanceof ModelError ? failed : appError('unavailable', detail);
    });
    return { ...made, spent: purse.spent, warnings: [{ code: 'model_failed', field: 'modelAlias', detail }] };
  }
}

async function byRules(deps: Deps, caller: Caller, { intent, datasets }: Asked): Promise<Made> {
  const reasons: string[] = [];
  for (const { draft, matched } of fittingDrafts(intent, datasets).slice(0, triesMax)) {
    const proven = await proveDraft(deps, caller, draft);
    if ('reason' in proven) {
      reasons.push(`${draft.body.name}: ${proven.reason}`);
      continue;
    }
    const spent = { tokens: 0, costUsd: 0 };
    return { draft, estimate: proven.estimate, steps: stepsOf(draft), matched, spent, warnings: [] };
  }
  const understood = techniquesIn(intent);
  const missing = missingFor(intent, datasets);
  const why = [
    understood.length > 0
      ? `Techniques understood: ${understood.slice(0, 5).join(', ')}.`
      : 'No technique was understood.',
    missing.length > 0 ? `Datasets that would be needed: ${missing.join(', ')}.` : '',
    ...reasons.slice(0, 3),
  ];
  const known = datasets
    .slice(0, 10)
    .map(({ name }) => name)
    .join(', ');
  throw refusal(
    '/intent',
    'nothing_fits',
    `Nothing that ships fits this over the datasets ${known}. ${why.filter((part) => part !== '').join(' ')}`,
  );
}

const refusal = (pointer: string, code: string, detail: string): Error =>
  appError('check_failed', detail, { errors: [{ pointer, code, detail }] });

const howJudged: Record<Draft['body']['detectionCategory'], string> = {
  custom: 'Every entity that the query finds is judged.',
  privilege_escalation: 'Every entity that the query finds is judged.',
  first_occurrence: 'An entity is judged when it shows values that it had in no window of the last 30 days.',
  baseline_anomaly: 'An entity is judged when its number is far above its own past.',
  sequence_pattern: 'An entity is judged when it completed the steps in order within a day.',
};

const stepsOf = ({ body, reads }: Draft): string[] => [
  `Each ${body.detectionCadence === 'hourly' ? 'hour' : body.detectionCadence === 'daily' ? 'day' : 'week'} the query runs over the new events of ${reads}.`,
  `Rows are grouped by ${body.entityField}.`,
  howJudged[body.detectionCategory],
  'The system prompt says how; without a language model the built-in analyst judges from the facts.',
];
