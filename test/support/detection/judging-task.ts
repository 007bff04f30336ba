import { startModelStandIn, type ModelBrain } from '../models/model-stand-in.ts';
import type { Candidate } from '../../../src/detection/analysis/candidate.ts';
import { verdictSchema } from '../../../src/detection/detections/record/field-schemas.ts';
import { nothingHidden } from '../../../src/detection/siem/hidden-data.ts';
import { bindTool } from '../../../src/detection/tools/tools.ts';
import type { ToolSources } from '../../../src/detection/tools/tool-definition.ts';
import type { JudgeTask } from '../../../src/detection/verdicts/model/judge-task.ts';
import { readModelSettings } from '../../../src/platform/models/model-settings.ts';
import { createModels } from '../../../src/platform/models/models.ts';
import type { ModelStep } from '../../../src/platform/models/model-tool.ts';
import { createVerdictOutput } from '../../../src/detection/verdicts/model/verdict-output.ts';

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
/** A valid verdict on the entity. */
export const verdict = {
  entity: 'root',
  entityType: 'user',
  triggered: true,
  confidence: 80,
  severity: 'medium',
  headline: 'root signed in',
  summary: 'root signed in from NO.',
  evidence: [{ rowId: 'e1', field: 'action', value: 'ConsoleLogin', why: 'the sign-in' }],
  nextStep: 'Ask the owner.',
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
  more: Partial<JudgeTask['definition']> & {
    timeoutSeconds?: number;
    tools?: string[];
    own?: Record<string, unknown>;
    stepsMax?: number;
  } = {},
) {
  const stand = await startModelStandIn(protocol === 'compatible' ? 'openai-chat' : protocol, brain);
  const { timeoutSeconds = 20, tools = [], own, stepsMax = 6, ...definition } = more;
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
  const task: JudgeTask = {
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
    candidate,
    output: createVerdictOutput(verdictSchema, own ?? null),
    tools: tools.map((name) => bindTool(name, sources)!),
    stepsMax,
    checkBudget: () => Promise.resolve(),
    recordStep: (step) => Promise.resolve(void steps.push(step)),
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
