import { createHash } from 'node:crypto';
import { z } from 'zod';
import { type Db, inOrg, type Tx } from '../../../platform/db/db.ts';
import type { Caller } from '../../../platform/http/caller.ts';
import { appError } from '../../../platform/lib/errors.ts';
import { uuidv7 } from '../../../platform/lib/ids.ts';
import { readPageRequest, toPage } from '../../../platform/lib/page-request.ts';
import { redactText } from '../../../platform/lib/text/redact.ts';
import type { Clock } from '../../../platform/lib/time/clock.ts';
import type { McpTools } from '../../../platform/mcp/mcp-tools.ts';
import { insertAudit } from '../../../platform/orgs/audit.store.ts';
import { requireScopes } from '../../../platform/orgs/credentials.ts';
import { type CreateDetectionDeps, createSuggestion } from '../../detections/create-detection.ts';
import { NewException } from '../../detections/exceptions/exceptions.schema.ts';
import { createException } from '../../detections/exceptions/exceptions.ts';
import { CreateSuggestion } from '../../detections/record/detection-input.schema.ts';
import { HitVerdict } from '../../hits/hits.schema.ts';
import { getHit } from '../../hits/read-hits.ts';
import { setHitStatus } from '../../hits/set-status.ts';
import { fenceRun } from '../../scheduling/run-claim.ts';
import type { ActiveRun } from '../run-model/active-run.ts';
import type { AgentCall, AgentCallFilter, AgentCallList, ApproveCall } from './agent-calls.schema.ts';
import {
  type AgentCallRow,
  countCalls,
  decideCall,
  endCall,
  insertCall,
  listCalls,
  lockCall,
} from './agent-calls.store.ts';

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
      const exception = { hitIds: [hitId!], ...NewException.parse(JSON.parse(input)) };
      const { id } = await createException(deps, caller, detectionId, exception);
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
const findAction = (tool: string): CallAction => (Object.hasOwn(actions, tool) ? actions[tool]! : foreignTool);

/** Returns why a call of a tool could never be executed, or undefined. */
function findCallProblem(tool: string, args: unknown, hitId: string | null): string | undefined {
  const { input, needsHit } = findAction(tool);
  if (needsHit && hitId === null) return 'this run is about no hit';
  const issue = input.safeParse(args).error?.issues[0];
  return issue && `${issue.path.join('.')}: ${issue.message}`;
}

const waitMs = 7 * 86_400_000;
const callsMax = 20;
const inputMax = 40_000;

/** A call that an agent would like to make. `reason` is why, in its own words or as proven. */
type ProposedCall = { tool: string; input: unknown; reason: string };

/** Lets the run propose calls to a person. The same call of a run is proposed once, also if an attempt is repeated. */
export const createProposer =
  ({ db, clock }: { db: Db; clock: Clock }, run: ActiveRun): NonNullable<ActiveRun['propose']> =>
  (tool, input, reason) =>
    inOrg(db, run.orgId, async (tx) => {
      await fenceRun(tx, run.claim);
      return storeProposal(tx, run, { tool, input, reason }, clock());
    });

/** Stores a call that waits for a person, in a fenced transaction. Returns the result that the agent sees. */
export async function storeProposal(
  tx: Tx,
  { orgId, id: runId, detectionId: agentId, event }: Pick<ActiveRun, 'orgId' | 'id' | 'detectionId' | 'event'>,
  { tool, input, reason }: ProposedCall,
  now: Date,
): Promise<string> {
  const hitId = event?.hitId ?? null;
  const problem = findCallProblem(tool, input, hitId);
  if (problem !== undefined) return `Refused: ${problem}.`;
  const text = JSON.stringify(input);
  if (text.length > inputMax) return `Refused: the arguments have more than ${inputMax} characters.`;
  if ((await countCalls(tx, orgId, runId)) >= callsMax) return `Refused: a run can propose at most ${callsMax} calls.`;
  await insertCall(tx, orgId, {
    id: uuidv7(now),
    agentId,
    runId,
    hitId,
    tool,
    input: text,
    inputHash: createHash('sha256').update(`${tool}\n${text}`).digest('hex'),
    reason: reason.slice(0, 2_000),
    createdAt: now,
    expiresAt: new Date(now.getTime() + waitMs),
  });
  return 'This waits for the approval of a person, after the end of this investigation. Go on without its result.';
}

type CallDeps = { db: Db; clock: Clock };

const resultMax = 10_000;

/** Returns a page of the calls of agents that wait for a person or were decided, newest first. */
export async function getCalls(
  { db, clock }: CallDeps,
  { orgId }: Caller,
  filter: AgentCallFilter,
): Promise<AgentCallList> {
  const request = readPageRequest(filter);
  const now = clock();
  const rows = await inOrg(db, orgId, (tx) => listCalls(tx, orgId, { ...filter, now }, request));
  const { page, nextCursor } = toPage(rows, request.limit, ({ createdAt: at, id }) => ({ at, id }));
  return { calls: page.map((row) => toRecord(row, now)), nextCursor };
}

/**
 * Executes a call in the name of the person who approves it, at most once. Throws 403 without the scopes that the action itself needs, and 409 if it
 * was decided or has expired, or if the person saw other arguments. The result says whether it succeeded.
 */
export async function approveCall(
  deps: CallDeps & ActionDeps,
  caller: Caller,
  { id, inputHash }: ApproveCall & { id: string },
  signal: AbortSignal,
): Promise<AgentCall> {
  const { orgId } = caller;
  const call = await inOrg(deps.db, orgId, async (tx) => {
    const waiting = await lockWaiting(tx, deps, caller, id);
    requireScopes(caller, findAction(waiting.tool).scopes);
    if (waiting.inputHash !== inputHash)
      throw appError('conflict', `Call ${id} has other arguments than those that you saw. Read it again.`);
    await decideCall(tx, caller, id, { state: 'approved', at: deps.clock() });
    await audit(tx, caller, waiting, 'agent_call.approved');
    return waiting;
  });
  const end = await findAction(call.tool)
    .execute(deps, caller, call, signal)
    .then(
      (result) => ({ state: 'done' as const, result }),
      (error: unknown) => ({
        state: 'failed' as const,
        result: error instanceof Error ? error.message : String(error),
      }),
    );
  await inOrg(deps.db, orgId, (tx) =>
    endCall(tx, orgId, id, { state: end.state, result: redactText(end.result).slice(0, resultMax) }),
  );
  return readCall(deps, caller, id);
}

/** Declines a call, which is then never executed. */
export async function declineCall(deps: CallDeps, caller: Caller, id: string): Promise<AgentCall> {
  await inOrg(deps.db, caller.orgId, async (tx) => {
    const call = await lockWaiting(tx, deps, caller, id);
    await decideCall(tx, caller, id, { state: 'declined', at: deps.clock() });
    await audit(tx, caller, call, 'agent_call.declined');
  });
  return readCall(deps, caller, id);
}

async function readCall({ db, clock }: CallDeps, { orgId }: Caller, id: string): Promise<AgentCall> {
  return toRecord((await inOrg(db, orgId, (tx) => lockCall(tx, orgId, id)))!, clock());
}

async function lockWaiting(tx: Tx, { clock }: CallDeps, { orgId }: Caller, id: string): Promise<AgentCallRow> {
  const call = await lockCall(tx, orgId, id);
  if (!call) throw appError('not_found', `Call ${id} not found.`);
  const { state } = toRecord(call, clock());
  if (state !== 'waiting') throw appError('conflict', `Call ${id} is ${state}.`);
  return call;
}

/** The arguments are only in the call, where they can be erased. */
const audit = (tx: Tx, caller: Caller, { id, tool, inputHash, runId }: AgentCallRow, action: string): Promise<void> =>
  insertAudit(tx, caller, {
    action,
    resourceType: 'agent_call',
    resourceId: id,
    before: null,
    after: { tool, inputHash, runId },
  });

function toRecord({ input, state, createdAt, expiresAt, decidedAt, ...row }: AgentCallRow, now: Date): AgentCall {
  return {
    ...row,
    input: JSON.parse(input) as AgentCall['input'],
    state: state === 'waiting' && expiresAt <= now ? 'expired' : state,
    createdAt: createdAt.toISOString(),
    expiresAt: expiresAt.toISOString(),
    decidedAt: decidedAt?.toISOString() ?? null,
  };
}
