import { z } from 'zod';
import type { McpTools } from '../../../platform/mcp/mcp-tools.ts';
import type { Caller } from '../../../platform/http/caller.ts';
import { createSuggestion } from '../../detections/create-suggestion.ts';
import type { CreateDetectionDeps } from '../../detections/create-detection.ts';
import { createException } from '../../detections/exceptions/exceptions.ts';
import { NewException } from '../../detections/exceptions/exceptions.schema.ts';
import { CreateSuggestion } from '../../detections/record/detection-input.schema.ts';
import { HitVerdict } from '../../hits/hits.schema.ts';
import { setHitStatus } from '../../hits/set-status.ts';
import { getHit } from '../../hits/read-hits.ts';
import type { AgentCallRow } from './agent-calls.store.ts';

export type ActionDeps = CreateDetectionDeps & { mcp?: McpTools };

/**
 * What happens when a person approves a call. `input` is what the arguments must be, and `scopes` are those that the action needs without an agent.
 * `execute` returns what to show.
 */
type CallAction = {
  input: z.ZodType;
  needsHit: boolean;
  scopes: readonly string[];
  execute: (deps: ActionDeps, caller: Caller, call: AgentCallRow, signal: AbortSignal) => Promise<string>;
};

const actions: Record<string, CallAction> = {
  set_hit_status: {
    input: HitVerdict,
    needsHit: true,
    scopes: ['hits:write'],
    execute: async (deps, caller, { hitId, input }) => {
      const { status } = await setHitStatus(deps, caller, hitId!, HitVerdict.parse(JSON.parse(input)));
      return `The hit is ${status}.`;
    },
  },
  propose_exception: {
    input: NewException,
    needsHit: true,
    scopes: ['detections:write'],
    execute: async (deps, caller, { hitId, input }) => {
      const { detectionId } = await getHit(deps, caller, hitId!);
      const { id } = await createException(deps, caller, detectionId, NewException.parse(JSON.parse(input)));
      return `Exception ${id} was added to detection ${detectionId}.`;
    },
  },
  propose_detection: {
    input: CreateSuggestion,
    needsHit: false,
    scopes: ['detections:write'],
    execute: async (deps, caller, { input }) => {
      const { id } = await createSuggestion(deps, caller, CreateSuggestion.parse(JSON.parse(input)), {
        validate: true,
      });
      return `Suggestion ${id} was created. It runs once it is accepted.`;
    },
  },
};

/** A tool of an MCP server. Whoever may grant it for good may also approve one call. */
const foreignTool: CallAction = {
  input: z.unknown(),
  needsHit: false,
  scopes: ['connections:admin'],
  execute: async ({ mcp }, { orgId }, { tool, input }, signal) => {
    const found = await mcp?.find(orgId, tool);
    if (!found) throw new Error(`No responding server provides the tool ${tool}.`);
    return String(await found.run(JSON.parse(input), signal));
  },
};

/** Returns what an approved call of a tool does. */
export const findAction = (tool: string): CallAction => (Object.hasOwn(actions, tool) ? actions[tool]! : foreignTool);

/** Returns why a call of a tool could never be executed, or undefined. */
export function findCallProblem(tool: string, args: unknown, hitId: string | null): string | undefined {
  const { input, needsHit } = findAction(tool);
  if (needsHit && hitId === null) return 'this run is about no hit';
  const issue = input.safeParse(args).error?.issues[0];
  return issue && `${issue.path.join('.')}: ${issue.message}`;
}
