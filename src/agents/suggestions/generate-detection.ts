import type { Spend } from '../../platform/models/budgets.ts';
import { ModelError } from '../../platform/models/model-error.ts';
import type { ConfiguredModel, Models } from '../../platform/models/models.ts';
import { listConnectionFields } from '../../detection/connections/check-connection.ts';
import { categories } from '../../detection/analysis/registry.ts';
import { inOrg } from '../../platform/db/db.ts';
import type { Estimate, Warning } from '../../detection/detections/record/detection.schema.ts';
import { withDefaultTools } from '../../detection/detections/agent-settings/agent-settings.ts';
import { findToolWarnings } from '../../detection/detections/record/warnings.ts';
import { appError, unavailableError, type Alternative } from '../../platform/lib/errors.ts';
import { uuidv7 } from '../../platform/lib/ids.ts';
import { listDatasets, type ListDatasetsDeps } from '../../detection/log-query/datasets/list-datasets.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { toQueryError } from '../../detection/testing/simulate-time-range.ts';
import { SiemError, type SiemConnection } from '../../detection/siem/connector.ts';
import { toPortableQuery } from '../../detection/siem/query-text.ts';
import type { RemoteSiemType } from '../../detection/siem/connectors/registry.ts';
import { type DetectionDraft, validateDraft, type ValidateDraftDeps } from './draft.ts';
import { matchIntent, type IntentMatch, type IntentMatches } from './matching/match-intent.ts';
import type { LogDataset } from './log-kinds.ts';
import { draftWithModel } from './drafting/draft-with-model.ts';
import { createAgentSpendMeter } from '../built-in-agent.ts';
import type { GeneratedDetection, GenerateRequest } from './generate-detection.schema.ts';
import { findDraftingAgent } from './drafting-agent.store.ts';
import { siemTarget, logStoreTarget, type DraftTarget } from './drafting/draft-targets.ts';

export type GenerateDetectionDeps = ValidateDraftDeps & ListDatasetsDeps & { models?: Models };

const draftsMax = 5;
const examplesMax = 2;
const unknownMax = 3;
const modelTimeoutMs = 100_000;

type Generation = {
  draft: DetectionDraft;
  estimate: Estimate;
  steps: string[];
  matched: string[];
  nearest: IntentMatch[];
  repairs: string[];
  spent: Spend;
  warnings: Warning[];
};

/**
 * Writes a detection for an intent and runs it on the organization's logs, without storing it. The model with the alias `default` writes it.
 * Without a model, or if the model fails, the best matching shipped detection or query template is used: for a connected SIEM as a portable
 * query. Throws check_failed with the reason and the nearest ones if nothing fits or the logs lack a dataset.
 */
export async function generateDetection(
  deps: GenerateDetectionDeps,
  caller: Caller,
  input: GenerateRequest,
): Promise<GeneratedDetection> {
  const {
    intent,
    siemType = null,
    toolNames,
  } = await inOrg(deps.db, caller.orgId, (tx) => withDefaultTools(tx, caller.orgId, input));
  const isLogStore = siemType === null || siemType.toLowerCase() === 'local';
  const generation = isLogStore
    ? await generateForLogStore(deps, caller, intent)
    : await generateForSiem(deps, caller, { intent, siemType });
  const { draft, estimate, steps, matched, nearest, repairs, spent, warnings } = generation;
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
    nearest: nearest.map(toAlternative),
    repairs,
    estimate,
    warnings: [...warnings, ...findToolWarnings(tools)],
    ...spent,
  };
}

async function generateForLogStore(deps: GenerateDetectionDeps, caller: Caller, intent: string): Promise<Generation> {
  const { datasets } = await listDatasets(deps, caller.orgId);
  const matches = matchIntent(intent, datasets);
  const fromShipped = () => generateFromShipped(deps, caller, { matches });
  const model = datasets.length === 0 ? undefined : deps.models?.find('default');
  if (!model) return fromShipped();
  const examples = matches.answers.flatMap(({ drafts }) => drafts.map(({ body }) => body)).slice(0, examplesMax);
  const request = { intent, model, target: logStoreTarget(datasets), examples, matches };
  return generateWithModel(deps, caller, request, fromShipped);
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
  const matches = matchIntent(intent, portable);
  const fromShipped = () => generateFromShipped(deps, caller, { matches, toBody });
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
  return generateWithModel(deps, caller, { intent, model, target, examples: [], matches }, fromShipped);
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

type ModelRequest = {
  intent: string;
  model: ConfiguredModel;
  target: DraftTarget;
  examples: DetectionDraft['body'][];
  matches: IntentMatches;
};

/** Lets a model write the detection. Uses a shipped detection or template if it fails; if none fits, the model's failure stands. */
async function generateWithModel(
  deps: GenerateDetectionDeps,
  caller: Caller,
  { intent, model, target, examples, matches }: ModelRequest,
  fromShipped: () => Promise<Generation>,
): Promise<Generation> {
  const { agentId, prompt, budgets } = await inOrg(deps.db, caller.orgId, (tx) => findDraftingAgent(tx, caller.orgId));
  const spent = { tokens: 0, costUsd: 0 };
  const spender = { orgId: caller.orgId, agentId, runId: uuidv7(), budgets, spent, storesSteps: false };
  const meter = createAgentSpendMeter(deps, spender, model);
  const renderTask = (): string => `Write one detection for this: ${intent}`;
  const signal = AbortSignal.timeout(modelTimeoutMs);
  try {
    const request = { model, meter, prompt, target, examples, signal, subject: 'intent', renderTask };
    const { noise, ...modelDraft } = await draftWithModel(deps, caller, request);
    const warnings = noise === null ? [] : [{ code: 'noisy', field: 'detectionQuery', detail: noise }];
    return {
      ...modelDraft,
      matched: [],
      nearest: [...matches.answers.slice(0, 1), ...matches.nearest],
      spent,
      warnings,
    };
  } catch (error) {
    if (!(error instanceof ModelError) && !signal.aborted) throw error;
    const detail =
      error instanceof ModelError
        ? error.failure.message
        : `The model did not answer within ${modelTimeoutMs / 1000} seconds.`;
    const failed = [{ code: 'model_failed', field: 'modelAlias', detail }];
    const generation = await fromShipped().catch(() => undefined);
    if (generation) return { ...generation, spent, warnings: [...failed, ...generation.warnings] };
    if (error instanceof ModelError && error.failure.kind === 'invalid_draft')
      throw refusal('/intent', 'draft_failed', detail, matches.nearest);
    throw error instanceof ModelError ? toQueryError(error) : appError('unavailable', detail);
  }
}

type ShippedRequest = {
  matches: IntentMatches;
  toBody?: (body: DetectionDraft['body']) => DetectionDraft['body'];
};

/**
 * Returns the best shipped detection or query template that fits and passes validation. Throws check_failed with the reason in one sentence and
 * the nearest ones otherwise.
 */
async function generateFromShipped(
  deps: GenerateDetectionDeps,
  caller: Caller,
  { matches: { answers, nearest, unknown }, toBody = (body) => body }: ShippedRequest,
): Promise<Generation> {
  const alternatives = [...answers.slice(0, 1), ...nearest];
  let failure: string | undefined;
  const drafts = answers.flatMap((match) => match.drafts.map((draft) => ({ match, draft })));
  for (const { match, draft: shipped } of drafts.slice(0, draftsMax)) {
    const draft = { ...shipped, body: toBody(shipped.body) };
    const validation = await validateDraft(deps, caller, draft);
    if ('reason' in validation) {
      failure ??= `“${draft.body.name}” fits, but it does not run on your logs: ${validation.reason}`;
      continue;
    }
    return {
      draft,
      estimate: validation.estimate,
      steps: describeSteps(draft),
      matched: match.matched,
      nearest: alternatives.filter((one) => one !== match),
      repairs: [],
      spent: { tokens: 0, costUsd: 0 },
      warnings: findDataWarnings(match, draft),
    };
  }
  const [best] = answers;
  if (best && failure === undefined)
    throw refusal('/intent', 'missing_data', `“${best.name}” fits, but your logs lack ${best.missing}.`, alternatives);
  throw refusal('/intent', 'nothing_fits', failure ?? describeMisfit(nearest, unknown), alternatives);
}

function findDataWarnings({ missing }: IntentMatch, { reads }: DetectionDraft): Warning[] {
  return missing === null
    ? []
    : [
        {
          code: 'missing_fields',
          field: 'detectionQuery',
          detail: `It finds nothing in ${reads} yet: your logs lack ${missing}.`,
        },
      ];
}

function describeMisfit([nearest]: readonly IntentMatch[], unknown: readonly string[]): string {
  const words = unknown.slice(0, unknownMax).map((word) => `“${word}”`);
  const reason = words.length > 0 ? `nothing that is shipped is about ${words.join(' and ')}` : 'none is close enough';
  const offer = nearest ? `; the nearest is “${nearest.name}”` : '';
  return `No shipped detection or template fits this intent, because ${reason}${offer}.`;
}

const refusal = (pointer: string, code: string, detail: string, nearest: readonly IntentMatch[] = []): Error =>
  appError('check_failed', detail, { errors: [{ pointer, code, detail }], alternatives: nearest.map(toAlternative) });

const toAlternative = ({ kind, id, name, description, missing }: IntentMatch): Alternative => ({
  kind,
  id,
  name,
  description,
  missing,
});

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
