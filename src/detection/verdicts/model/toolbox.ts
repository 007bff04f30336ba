import { redactText } from '../../../platform/lib/text/redact.ts';
import { cutText, visibleText } from '../../../platform/lib/text/canonical-text.ts';
import type { ReadyTool } from '../../tools/tool.ts';
import type { ToolOffer } from '../../../platform/models/model-call.ts';
import type { Delimit } from '../../../platform/models/delimit.ts';
import type { AgentTask } from './judge-entity.ts';
import { planTool, redacted, submitTool } from './judge-prompt.ts';

type Call = { id: string; name: string; input: Record<string, unknown> | undefined };
type Result = { text: string; outcome: 'done' | 'refused' | 'failed' };

export type Toolbox = { offers: ToolOffer[]; use: (call: Call, index: number) => Promise<Result> };

const callsPerStepMax = 5;
const outputMax = 16_000;
const toolMs = 30_000;

/** The tools of one conversation: those that the detection names and may use, and the two that only talk to us. Whatever else is called is refused. */
export function createToolbox(task: AgentTask, delimit: Delimit): Toolbox {
  const tools = new Map(task.tools.map((tool) => [tool.name, tool]));
  const offers = task.tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
  return {
    offers: [...offers, ...own(task)],
    use: async (call, index) => {
      const begun = performance.now();
      const at = new Date().toISOString();
      const tool = tools.get(call.name);
      const simulated = tool?.effect === 'send' && task.definition.mode === 'sandbox';
      const result =
        call.name === planTool && task.definition.planningMode === 'auto'
          ? ({ text: 'noted', outcome: 'done' } as const)
          : await run(tool, { call, index, simulated, task, delimit });
      const { entity } = task.candidate;
      const kind = call.name === planTool ? ('plan' as const) : ('tool' as const);
      await task.record({
        kind,
        entity,
        at,
        ms: Math.round(performance.now() - begun),
        model: task.model.name,
        tokens: { input: 0, output: 0 },
        costUsd: 0,
        tool: {
          name: call.name,
          input: redacted(call.input ?? null),
          output: result.text,
          simulated,
          failed: result.outcome !== 'done',
        },
      });
      return result;
    },
  };
}

/** A call that was not allowed or could not be understood; that a tool itself failed is not the model's fault. */
export const isFaulty = ({ outcome }: Result): boolean => outcome === 'refused';

type Using = { call: Call; index: number; simulated: boolean; task: AgentTask; delimit: Delimit };

async function run(tool: ReadyTool | undefined, { call, index, simulated, task, delimit }: Using): Promise<Result> {
  const refuse = (text: string): Result => ({ text, outcome: 'refused' });
  if (!tool) return refuse('This tool is not allowed.');
  if (index >= callsPerStepMax) return refuse(`At most ${callsPerStepMax} calls a step; call it again.`);
  const read = call.input === undefined ? undefined : tool.read(call.input);
  if (!read) return refuse('The input is not a JSON object.');
  if ('problem' in read) return refuse(`The input does not fit: ${read.problem}`);
  if (simulated) return { text: 'Simulated: in the sandbox nothing is sent.', outcome: 'done' };
  try {
    const signal = AbortSignal.any([task.signal, AbortSignal.timeout(toolMs)]);
    const output = await tool.run(read.input, signal);
    return { text: delimit.wrap(redacted(output), outputMax), outcome: 'done' };
  } catch (error) {
    task.signal.throwIfAborted();
    const why = error instanceof Error ? error.message : String(error);
    return { text: delimit.wrap(`failed: ${cutText(visibleText(redactText(why)), 500)}`), outcome: 'failed' };
  }
}

function own({ output, definition }: AgentTask): ToolOffer[] {
  const submit = { name: submitTool, description: 'Gives the verdict and ends the case.', inputSchema: output.schema };
  if (definition.planningMode !== 'auto') return [submit];
  const inputSchema = {
    type: 'object',
    properties: { plan: { type: 'string' } },
    required: ['plan'],
    additionalProperties: false,
  };
  return [submit, { name: planTool, description: 'Notes a plan. Optional.', inputSchema }];
}
