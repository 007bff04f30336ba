import { escapeInvisible, truncateText } from '../../../platform/lib/text/canonical-text.ts';
import type { Delimiter } from '../../../platform/models/ask-model.ts';
import type { ModelResponse, ToolDeclaration } from '../../../platform/models/model-request.ts';
import { redactDeep, redactText } from '../../../platform/lib/text/redact.ts';
import type { ModelTool } from '../../../platform/models/model-tool.ts';
import { planTool, submitTool, type JudgeTask } from './judge-task.ts';

type ToolCall = ModelResponse['toolCalls'][number];
type ToolOutcome = { text: string; outcome: 'done' | 'refused' | 'failed' };

/** `run` runs a tool call and records it as a step. `index` is the position of the call within its step. */
export type Toolbox = {
  declarations: ToolDeclaration[];
  run: (call: ToolCall, index: number) => Promise<ToolOutcome>;
};

const callsPerStepMax = 5;
const outputMax = 16_000;
const toolMs = 30_000;

/** Creates the tools of one conversation: those of the detection, and the two for submitting and planning. Other calls are refused. */
export function createToolbox(task: JudgeTask, delimiter: Delimiter): Toolbox {
  const tools = new Map(task.tools.map((tool) => [tool.name, tool]));
  const { planningMode, mode } = task.definition;
  return {
    declarations: [
      ...task.tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })),
      ...declareOwnTools(task),
    ],
    run: async (call, index) => {
      const startedAt = performance.now();
      const at = new Date().toISOString();
      const tool = tools.get(call.name);
      const simulated = tool?.effect === 'send' && mode === 'sandbox';
      const result =
        call.name === planTool && planningMode === 'auto'
          ? ({ text: 'noted', outcome: 'done' } as const)
          : await runTool(tool, { call, index, simulated, task, delimiter });
      await task.recordStep({
        kind: call.name === planTool ? 'plan' : 'tool',
        entity: task.candidate.entity,
        at,
        ms: Math.round(performance.now() - startedAt),
        model: task.model.name,
        tokens: { input: 0, output: 0 },
        costUsd: 0,
        tool: {
          name: call.name,
          input: redactDeep(call.input ?? null),
          output: result.text,
          simulated,
          failed: result.outcome !== 'done',
        },
      });
      return result;
    },
  };
}

/** Returns whether a call was not allowed or not valid. A tool that fails is not the model's fault. */
export const isRefused = ({ outcome }: ToolOutcome): boolean => outcome === 'refused';

type ToolRun = { call: ToolCall; index: number; simulated: boolean; task: JudgeTask; delimiter: Delimiter };

async function runTool(
  tool: ModelTool | undefined,
  { call, index, simulated, task, delimiter }: ToolRun,
): Promise<ToolOutcome> {
  const refuse = (text: string): ToolOutcome => ({ text, outcome: 'refused' });
  if (!tool) return refuse('This tool is not allowed.');
  if (index >= callsPerStepMax) return refuse(`A step can make at most ${callsPerStepMax} calls. Call the tool again.`);
  const parsed = call.input === undefined ? undefined : tool.parse(call.input);
  if (!parsed) return refuse('The input is not a JSON object.');
  if ('problem' in parsed) return refuse(`The input is not valid: ${parsed.problem}`);
  if (simulated) return { text: 'Simulated: the sandbox sends nothing.', outcome: 'done' };
  try {
    const signal = AbortSignal.any([task.signal, AbortSignal.timeout(toolMs)]);
    const output = await tool.run(parsed.input, signal);
    return { text: delimiter.wrap(redactDeep(output), outputMax), outcome: 'done' };
  } catch (error) {
    task.signal.throwIfAborted();
    const reason = redactText(error instanceof Error ? error.message : String(error));
    return { text: delimiter.wrap(`failed: ${truncateText(escapeInvisible(reason), 500)}`), outcome: 'failed' };
  }
}

function declareOwnTools({ output, definition }: JudgeTask): ToolDeclaration[] {
  const submit = {
    name: submitTool,
    description: 'Submits the verdict and ends the case.',
    inputSchema: output.schema,
  };
  if (definition.planningMode !== 'auto') return [submit];
  const inputSchema = {
    type: 'object',
    properties: { plan: { type: 'string' } },
    required: ['plan'],
    additionalProperties: false,
  };
  return [submit, { name: planTool, description: 'Writes down a plan. Optional.', inputSchema }];
}
