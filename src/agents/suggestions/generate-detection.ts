import type { Spend } from '../../platform/models/budgets.ts';
import { ModelError } from '../../platform/models/model-error.ts';
import type { ConfiguredModel, Models } from '../../platform/models/models.ts';
import { listConnectionFields } from '../../detection/connections/check-connection.ts';
import { categories } from '../../detection/analysis/registry.ts';
import { inOrg } from '../../platform/db/db.ts';
import type { Estimate, Warning } from '../../detection/detections/record/detection.schema.ts';
import { withDefaultTools } from '../../detection/detections/agent-settings/agent-settings.ts';
import { findToolWarnings } from '../../detection/detections/record/warnings.ts';
import { appError, unavailableError } from '../../platform/lib/errors.ts';
import { uuidv7 } from '../../platform/lib/ids.ts';
import { listDatasets, type ListDatasetsDeps } from '../../detection/log-query/datasets/list-datasets.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { toQueryError } from '../../detection/testing/simulate-time-range.ts';
import { SiemError, type SiemConnection } from '../../detection/siem/connector.ts';
import { toPortableQuery } from '../../detection/siem/query-text.ts';
import type { RemoteSiemType } from '../../detection/siem/connectors/registry.ts';
import type { DetectionDraft } from './draft.ts';
import { matchIntent, listMissingDatasets, findTechniquesInText } from './drafting/match-intent.ts';
import type { LogDataset } from './log-kinds.ts';
import { draftWithModel } from './drafting/draft-with-model.ts';
import { validateDraft, type ValidateDraftDeps } from './validate-draft.ts';
import { createAgentSpendMeter } from '../built-in-agent.ts';
import type { GeneratedDetection, GenerateRequest } from './generate-detection.schema.ts';
import { findDraftingAgent } from './drafting-agent.store.ts';
import { siemTarget, logStoreTarget, type DraftTarget } from './drafting/draft-targets.ts';

export type GenerateDetectionDeps = ValidateDraftDeps & ListDatasetsDeps & { models?: Models };

const draftsMax = 5;
const modelTimeoutMs = 100_000;

type Generation = {
  draft: DetectionDraft;
  estimate: Estimate;
  steps: string[];
  matched: string[];
  spent: Spend;
  warnings: Warning[];
};

/**
 * Writes a detection for an intent and runs it on the organization's logs, without storing it. The model with the alias `default` writes it.
 * Without a model, or if the model fails, the best matching shipped detection or query template is used: for a connected SIEM as a portable
 * query. Throws check_failed if nothing fits.
 */
export async function generateDetection(
  deps: GenerateDetectionDeps,
  caller: Caller,
  input: GenerateRequest,
): Promise<GeneratedDetection> {
  const { intent, siemType = null, toolNames } = await withDefaultTools(deps, caller, input);
  const isLogStore = siemType === null || siemType.toLowerCase() === 'local';
  const generation = isLogStore
    ? await generateForLogStore(deps, caller, intent)
    : await generateForSiem(deps, caller, { intent, siemType });
  const { draft, estimate, steps, matched, spent, warnings } = generation;
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
    warnings: [...warnings, ...findToolWarnings(tools)],
    ...spent,
  };
}

async function generateForLogStore(deps: GenerateDetectionDeps, caller: Caller, intent: string): Promise<Generation> {
  const { datasets } = await listDatasets(deps, caller.orgId);
  if (datasets.length === 0)
    throw refusal('/intent', 'no_logs', 'The log store has no events. Send events to POST /api/logs/{dataset} first.');
  const model = deps.models?.find('default');
  const fromShipped = () => generateFromShipped(deps, caller, { intent, datasets });
  if (!model) return fromShipped();
  const result = await generateWithModel(deps, caller, { intent, model, target: logStoreTarget(datasets) });
  return 'draft' in result ? result : replaceFailed(result, fromShipped);
}

/** Uses a shipped detection or template instead of a model that failed. If none fits, the model's failure stands. */
async function replaceFailed(
  { error, spent, detail }: ModelFailureResult,
  fromShipped: () => Promise<Generation>,
): Promise<Generation> {
  const generation = await fromShipped().catch(() => {
    throw error;
  });
  return { ...generation, spent, warnings: [{ code: 'model_failed', field: 'modelAlias', detail }] };
}

async function generateForSiem(
  deps: GenerateDetectionDeps,
  caller: Caller,
  { intent, siemType }: { intent: string; siemType: string },
): Promise<Generation> {
  const connection = await deps
    .connectionFor(caller.orgId, { connectionId: null, siemType })
    .catch((error: unknown) => {
      throw error instanceof SiemError ? refusal('/siemType', error.failure.kind, error.failure.message) : error;
    });
  const model = deps.models?.find('default');
  const portable = await listPortableDatasets(connection);
  const toBody = (body: DetectionDraft['body']) => ({
    ...body,
    siemType,
    detectionQuery: toPortableQuery(body.detectionQuery),
  });
  const fromShipped = () => generateFromShipped(deps, caller, { intent, datasets: portable, toBody });
  if (!model && portable.length === 0)
    throw refusal(
      '/siemType',
      'no_model',
      `Configure a language model with the alias \`default\` to generate detections for ${siemType}, or say in the setting datasets of its connection where the logs of shipped detections are.`,
    );
  if (!model) return fromShipped();
  const { datasets } = await listConnectionFields(deps, caller, connection.id!);
  if (datasets.every(({ fields }) => fields.length === 0))
    throw refusal('/siemType', 'no_logs', `The connection to ${siemType} lists no fields to query.`);
  const target = siemTarget(siemType.toLowerCase() as RemoteSiemType, datasets);
  const result = await generateWithModel(deps, caller, { intent, model, target });
  return 'draft' in result ? result : replaceFailed(result, fromShipped);
}

/** Returns the datasets of a connection's portable queries. Throws a 503 if the SIEM does not respond. */
async function listPortableDatasets(connection: SiemConnection): Promise<LogDataset[]> {
  try {
    const datasets = (await connection.portableFields?.()) ?? [];
    return datasets.map(({ dataset, fields }) => ({ name: dataset, columns: fields }));
  } catch (error) {
    if (!(error instanceof SiemError)) throw error;
    throw unavailableError(error.failure.message, 60);
  }
}

type ModelFailureResult = { error: unknown; detail: string; spent: Spend };

async function generateWithModel(
  deps: GenerateDetectionDeps,
  caller: Caller,
  { intent, model, target }: { intent: string; model: ConfiguredModel; target: DraftTarget },
): Promise<Generation | ModelFailureResult> {
  const { agentId, prompt, budgets } = await inOrg(deps.db, caller.orgId, (tx) => findDraftingAgent(tx, caller.orgId));
  const spent = { tokens: 0, costUsd: 0 };
  const spender = { orgId: caller.orgId, agentId, runId: uuidv7(), budgets, spent, storesSteps: false };
  const meter = createAgentSpendMeter(deps, spender, model);
  const renderTask = (): string => `Write one detection for this: ${intent}`;
  const signal = AbortSignal.timeout(modelTimeoutMs);
  try {
    const request = { model, meter, prompt, target, signal, subject: 'intent', renderTask };
    const modelDraft = await draftWithModel(deps, caller, request);
    return { ...modelDraft, matched: [], spent, warnings: [] };
  } catch (error) {
    if (error instanceof ModelError) return { error: toQueryError(error), detail: error.failure.message, spent };
    if (!signal.aborted) throw error;
    const detail = `The model did not answer within ${modelTimeoutMs / 1000} seconds.`;
    return { error: appError('unavailable', detail), detail, spent };
  }
}

type ShippedRequest = {
  intent: string;
  datasets: LogDataset[];
  toBody?: (body: DetectionDraft['body']) => DetectionDraft['body'];
};

/** Returns the best matching shipped detection or query template that passes validation. Throws check_failed with the reasons otherwise. */
async function generateFromShipped(
  deps: GenerateDetectionDeps,
  caller: Caller,
  { intent, datasets, toBody = (body) => body }: ShippedRequest,
): Promise<Generation> {
  const reasons: string[] = [];
  for (const { draft: shipped, matched } of matchIntent(intent, datasets).slice(0, draftsMax)) {
    const draft = { ...shipped, body: toBody(shipped.body) };
    const validation = await validateDraft(deps, caller, draft);
    if ('reason' in validation) {
      reasons.push(`${draft.body.name}: ${validation.reason}`);
      continue;
    }
    const spent = { tokens: 0, costUsd: 0 };
    return { draft, estimate: validation.estimate, steps: describeSteps(draft), matched, spent, warnings: [] };
  }
  const techniques = findTechniquesInText(intent);
  const missing = listMissingDatasets(intent, datasets);
  const details = [
    techniques.length > 0
      ? `Recognized techniques: ${techniques.slice(0, 5).join(', ')}.`
      : 'The intent contains no known technique.',
    missing.length > 0 ? `Missing datasets: ${missing.join(', ')}.` : '',
    ...reasons.slice(0, 3),
  ];
  const names = datasets
    .slice(0, 10)
    .map(({ name }) => name)
    .join(', ');
  throw refusal(
    '/intent',
    'nothing_fits',
    `No shipped detection or template fits this intent and the datasets ${names}. ${details.filter((part) => part !== '').join(' ')}`,
  );
}

const refusal = (pointer: string, code: string, detail: string): Error =>
  appError('check_failed', detail, { errors: [{ pointer, code, detail }] });

const cadencePeriods: Record<NonNullable<DetectionDraft['body']['detectionCadence']>, string> = {
  hourly: 'hour',
  daily: 'day',
  weekly: 'week',
};

const describeSteps = ({ body, reads }: DetectionDraft): string[] => [
  `Every ${cadencePeriods[body.detectionCadence ?? 'weekly']} the query runs on the new events of ${reads}.`,
  `Rows are grouped by ${body.entityField}.`,
  categories[body.detectionCategory].description,
  'The system prompt defines how entities are judged. Without a language model, the built-in analyst judges them by the facts.',
];
