import { startModelStandIn, type ModelBrain } from '../models/model-stand-in.ts';
import type { Candidate } from '../../../src/detection/analysis/candidate.ts';
import { verdictSchema } from '../../../src/detection/detections/record/field-schemas.ts';
import { nothingHidden } from '../../../src/detection/siem/hidden-data.ts';
import { bindTool } from '../../../src/detection/tools/tools.ts';
import type { ToolSources } from '../../../src/detection/tools/tool-definition.ts';
import { createVerifier } from '../../../src/detection/verdicts/investigation/ask-verifier.ts';
import type { InvestigationTask } from '../../../src/detection/verdicts/investigation/task.ts';
import { caseOf } from './verdict-examples.ts';
import { readModelSettings } from '../../../src/platform/models/model-settings.ts';
import { createModels } from '../../../src/platform/models/models.ts';
import type { ModelStep } from '../../../src/platform/models/model-request.ts';
import { createSubmissionFormat } from '../../../src/detection/verdicts/investigation/submission.ts';

const candidate: Candidate = {
  entity: 'root',
  entityType: 'user',
  kind: 'custom',
  kindKey: 'custom:1',
  severity: 'medium',
  facts: { rows: 1, windowFrom: '2026-03-02T00:00:00.000Z', windowTo: '2026-03-02T01:00:00.000Z' },
  rows: [
    { rowId: 'e1', time: '2026-03-02T00:10:00.000Z', fields: { user: 'root', action: 'ConsoleLogin', country: 'NO' } },
  ],
};
/** A valid submission on the entity. */
export const verdict = {
  claims: [
    {
      text: 'root signed in from NO.',
      kind: 'fact',
      cites: [
        { observation: 'rows', rowId: 'e1', field: 'action', value: 'ConsoleLogin' },
        { observation: 'rows', rowId: 'e1', field: 'country', value: 'NO' },
      ],
    },
  ],
  techniques: [],
  nextSteps: ['Ask the owner.'],
  headline: 'root signed in from NO.',
  verdict: 'raise',
  severity: 'medium',
  confidence: 80,
};
/** Returns a response that calls a tool. */
export const call = (name: string, input: unknown) => ({ calls: [{ name, input }] });
/** Returns a response that submits a verdict. */
export const submit = (input: unknown = verdict) => call('submit_verdict', input);
/** Sends these responses in order, then the verdict. */
export const inTurn =
  (...responses: ReturnType<ModelBrain>[]): ModelBrain =>
  (_asked, nth) =>
    responses[nth - 1] ?? submit();

/** The protocols of model providers. */
export const protocols = ['openai-chat', 'openai-responses', 'anthropic', 'compatible'] as const;
type Protocol = (typeof protocols)[number];

/** Returns the task of judging an entity with a stand-in for a model, and the stand-in. */
export async function startJudging(
  protocol: Protocol,
  brain: ModelBrain,
  more: Partial<InvestigationTask['definition']> & {
    timeoutSeconds?: number;
    tools?: string[];
    own?: Record<string, unknown>;
    stepsMax?: number;
    isVerifierOn?: boolean;
  } = {},
) {
  const stand = await startModelStandIn(protocol === 'compatible' ? 'openai-chat' : protocol, brain);
  const { timeoutSeconds = 20, tools = [], own, stepsMax = 6, isVerifierOn = false, ...definition } = more;
  const common = {
    model: 'stand-in',
    apiKey: 'secret-key',
    baseUrl: stand.url,
    timeoutSeconds,
    maxRetries: 0,
    price: { inputPerMillion: 10, outputPerMillion: 50 },
  };
  const entry = {
    'openai-chat': { provider: 'openai', api: 'chat', ...common },
    'openai-responses': { provider: 'openai', api: 'responses', ...common },
    anthropic: { provider: 'anthropic', ...common },
    compatible: { provider: 'openai-compatible', ...common },
  }[protocol];
  const model = createModels(readModelSettings(JSON.stringify({ m: entry }), {})).find('m')!;
  const steps: ModelStep[] = [];
  const { entity, rows, facts } = candidate;
  const sources = { entity, rows, facts, hidden: nothingHidden } as ToolSources;
  const controller = new AbortController();
  const meter = {
    checkBudget: () => Promise.resolve(),
    recordStep: (step: ModelStep) => Promise.resolve(void steps.push(step)),
  };
  const task: InvestigationTask = {
    ...meter,
    model,
    definition: {
      name: 'Root',
      description: '',
      detectionCategory: 'custom',
      detectionQuery: 'q',
      systemPrompt: 'Judge it.',
      planningMode: 'never',
      mode: 'standard',
      customInstructions: null,
      ...definition,
    },
    file: caseOf(candidate),
    establish: () => Promise.resolve(() => false),
    format: createSubmissionFormat(verdictSchema, own ?? null),
    tools: tools.map((name) => bindTool(name, sources)!),
    stepsMax,
    verify: isVerifierOn
      ? createVerifier({ model, meter: { startConversation: () => meter }, entity: 'root', signal: controller.signal })
      : undefined,
    signal: controller.signal,
  };
  return { stand, steps, task, controller };
}

/** Returns the failure of a promise that must be rejected. */
export const failureOf = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: { failure?: unknown }) => error.failure ?? error,
  );
