import type { ModelMessage } from 'ai';
import type { ModelRequest, ModelResponse } from '../src/platform/models/model-request.ts';
import type { Models } from '../src/platform/models/models.ts';
import { hour, startRuns } from '../test/support/detection/scripted-runs.ts';
import { createScriptedModels } from '../test/support/models/scripted-models.ts';
import { withInProcessProgram } from '../test/support/program-environment.ts';
import { median, type Benchmark } from './benchmark.ts';

const [cases, rounds, stepsPerCase] = [20, 5, 5];

/** Returns what a model that needs no time answers: a search in each step, and in the last one a verdict that cites the case. */
function answer({ messages }: ModelRequest): ModelResponse {
  const step = messages.filter(({ role }) => role === 'assistant').length + 1;
  const entity = /"entity":"(\w+)"/.exec(JSON.stringify(messages[0]).replaceAll('\\', ''))?.[1] ?? '';
  const cites = [{ observation: 'rows', rowId: entity, field: 'user', value: entity }];
  const text = `It is ${entity}.`;
  const verdict = {
    verdict: 'raise',
    severity: 'medium',
    confidence: 80,
    headline: text,
    techniques: [],
    nextSteps: [],
  };
  const [name, input] =
    step < stepsPerCase
      ? (['search_logs', { query: `others ${step}`, hours: 24 }] as const)
      : (['submit_verdict', { ...verdict, claims: [{ text, kind: 'fact', cites }] }] as const);
  const id = `call-${step}`;
  const content = [{ type: 'tool-call' as const, toolCallId: id, toolName: name, input }];
  const assistant: ModelMessage = { role: 'assistant', content };
  return {
    text: '',
    toolCalls: [{ id, name, input }],
    messages: [assistant],
    tokens: { input: 900, output: 90 },
    ms: 0,
  };
}

/** Returns models that answer in this process. */
function createInstantModels(): Models {
  const models = createScriptedModels({ m: 'http://127.0.0.1:9' }, { entitiesAtOnce: 1, verifyClaims: false });
  const model = models.find('m')!;
  return {
    ...models,
    find: (alias) => (alias === 'm' ? { ...model, call: (request) => Promise.resolve(answer(request)) } : undefined),
  };
}

export const investigateBenchmark: Benchmark = {
  title: `Investigation: ${cases} cases of ${stepsPerCase} steps, with a model and a SIEM that answer at once`,
  run: (report) =>
    withInProcessProgram(async (program) => {
      const perStep: number[] = [];
      const ofProcessor: number[] = [];
      for (let round = 1; round <= rounds; round += 1) {
        report(`round ${round} of ${rounds}`);
        const t = await startRuns(program, ({ query }) =>
          Array.from({ length: query.startsWith('others') ? 3 : cases }, (_, n) => ({
            _id: `user${n}`,
            _time: hour(0),
            user: `user${n}`,
            action: 'ConsoleLogin',
            address: `192.0.2.${n}`,
          })),
        );
        t.deps.models = createInstantModels();
        await t.newDetection({ modelAlias: 'm', detectionCategory: 'custom', toolNames: ['search_logs'] });
        const before = process.cpuUsage();
        await t.runAt(hour(1));
        const { user, system } = process.cpuUsage(before);
        ofProcessor.push((user + system) / 1000 / (cases * stepsPerCase));
        const [run] = await t.select<{ phases: string; hits: number }>`select phases, hit_count as hits from runs`;
        const phases = JSON.parse(run!.phases) as { name: string; ms: number }[];
        const steps = await t.select`select 1 from run_steps`;
        const expected = cases * (2 * stepsPerCase - 1);
        if (run!.hits !== cases || steps.length !== expected)
          throw new Error(`${run!.hits} hits and ${steps.length} steps instead of ${cases} and ${expected}.`);
        perStep.push(phases.find(({ name }) => name === 'judge')!.ms / (cases * stepsPerCase));
      }
      return [
        {
          label:
            'a step: budget, prompt, tool call, observation, stored transcript, and its share of checks and the hit',
          unit: 'ms',
          tocsin: median(perStep),
        },
        { label: 'processor time of the service for a step, with the run', unit: 'ms', tocsin: median(ofProcessor) },
      ];
    }),
  note: 'A step is a call of the model with the tool calls that it asks for. The goal is below 15 ms.',
};
