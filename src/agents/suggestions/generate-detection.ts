import type { Spent } from '../../platform/models/budgets.ts';
import { ModelError } from '../../platform/models/model-error.ts';
import type { ModelRef } from '../../platform/models/models.ts';
import { getFields } from '../../detection/connections/check-connection.ts';
import { inOrg } from '../../platform/db/db.ts';
import type { Deps } from '../../app/deps.ts';
import type { Estimate, Warning } from '../../detection/detections/record/detection.schema.ts';
import { toolWarnings } from '../../detection/detections/record/warnings.ts';
import { appError } from '../../platform/lib/errors.ts';
import { uuidv7 } from '../../platform/lib/ids.ts';
import { listDatasets } from '../../detection/logs/catalog/list-datasets.ts';
import type { Caller } from '../../platform/orgs/caller.ts';
import { failureAsError } from '../../detection/testing/query-failure.ts';
import { SiemError } from '../../detection/siem/connector.ts';
import type { RemoteKind } from '../../detection/siem/registry.ts';
import type { Draft } from './draft.ts';
import { fittingDrafts, missingFor, techniquesIn } from './drafting/intent.ts';
import type { Dataset } from './drafting/log-datasets.ts';
import { draftByModel } from './drafting/model-draft.ts';
import { proveDraft } from './prove-draft.ts';
import { openPurse } from './agent-spend.ts';
import type { Generated, GenerateRequest } from './suggestions.schema.ts';
import { findResearcher } from '../threat-research/research.store.ts';
import { connectedTarget, localTarget, type Target } from './drafting/target.ts';

const triesMax = 5;
const modelMs = 100_000;

type Made = { draft: Draft; estimate: Estimate; steps: string[]; matched: string[]; spent: Spent; warnings: Warning[] };

/**
 * Writes a detection for an intent and runs it over the organization's logs; stores nothing. The model behind the alias `default`
 * writes it where there is one, else, or if that fails, the best shipped detection or query template. For a SIEM that is connected only a
 * model can. 422 where nothing fits.
 */
export async function generateDetection(deps: Deps, caller: Caller, input: GenerateRequest): Promise<Generated> {
  const { intent, siemType = null, toolNames } = input;
  const isLocal = siemType === null || siemType.toLowerCase() === 'local';
  const made = isLocal ? await forLogs(deps, caller, intent) : await forSiem(deps, caller, { intent, siemType });
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

async function forLogs(deps: Deps, caller: Caller, intent: string): Promise<Made> {
  const { datasets } = await listDatasets(deps, caller.orgId);
  if (datasets.length === 0)
    throw refusal(
      '/intent',
      'no_logs',
      'There are no logs to detect anything in; send some to POST /api/logs/{dataset}.',
    );
  const model = deps.models?.find('default');
  if (!model) return byRules(deps, caller, { intent, datasets });
  const drafted = await byModel(deps, caller, { intent, model, target: localTarget(datasets) });
  if ('draft' in drafted) return drafted;
  const made = await byRules(deps, caller, { intent, datasets }).catch(() => {
    throw drafted.answer;
  });
  const { spent, detail } = drafted;
  return { ...made, spent, warnings: [{ code: 'model_failed', field: 'modelAlias', detail }] };
}

/** What ships is written for the embedded store: for another SIEM a model writes, and its query is run over the connection. */
async function forSiem(
  deps: Deps,
  caller: Caller,
  { intent, siemType }: { intent: string; siemType: string },
): Promise<Made> {
  const connection = await deps
    .connectionFor(caller.orgId, { connectionId: null, siemType })
    .catch((error: unknown) => {
      throw error instanceof SiemError ? refusal('/siemType', error.failure.kind, error.failure.message) : error;
    });
  const model = deps.models?.find('default');
  if (!model)
    throw refusal(
      '/siemType',
      'no_model',
      `What ships is written for the embedded store; for ${siemType} a language model is needed behind the alias default.`,
    );
  const { datasets } = await getFields(deps, caller, connection.id!);
  if (datasets.every(({ fields }) => fields.length === 0))
    throw refusal('/siemType', 'no_logs', `The connection to ${siemType} shows no fields that could be asked for.`);
  const target = connectedTarget(siemType.toLowerCase() as RemoteKind, datasets);
  const drafted = await byModel(deps, caller, { intent, model, target });
  if ('draft' in drafted) return drafted;
  throw drafted.answer;
}

type Undrafted = { answer: unknown; detail: string; spent: Spent };

async function byModel(
  deps: Deps,
  caller: Caller,
  { intent, model, target }: { intent: string; model: ModelRef; target: Target },
): Promise<Made | Undrafted> {
  const { agentId, prompt, budgets } = await inOrg(deps.db, caller.orgId, (tx) => findResearcher(tx, caller.orgId));
  const spent = { tokens: 0, costUsd: 0 };
  const spender = { orgId: caller.orgId, agentId, runId: uuidv7(), budgets, spent, keepsSteps: false };
  const purse = openPurse(deps, spender, model);
  const ask = (): string => `Write one detection for this: ${intent}`;
  const signal = AbortSignal.timeout(modelMs);
  try {
    const found = await draftByModel(deps, caller, { model, purse, prompt, target, signal, about: 'intent', ask });
    return { ...found, matched: [], spent, warnings: [] };
  } catch (error) {
    if (error instanceof ModelError) return { answer: failureAsError(error), detail: error.failure.message, spent };
    if (!signal.aborted) throw error;
    const detail = 'The model took too long.';
    return { answer: appError('unavailable', detail), detail, spent };
  }
}

async function byRules(
  deps: Deps,
  caller: Caller,
  { intent, datasets }: { intent: string; datasets: Dataset[] },
): Promise<Made> {
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
