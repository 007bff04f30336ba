import { createHash } from 'node:crypto';
import { inOrg, type Db, type Tx } from '../../../platform/db/db.ts';
import type { Clock } from '../../../platform/lib/time/clock.ts';
import { uuidv7 } from '../../../platform/lib/ids.ts';
import { fenceRun } from '../../scheduling/run-claim.ts';
import type { ActiveRun } from '../run-model/active-run.ts';
import { findCallProblem } from './call-actions.ts';
import { countCalls, insertCall } from './agent-calls.store.ts';

const waitMs = 7 * 86_400_000;
const callsMax = 20;
const inputMax = 40_000;

/** A call that an agent would like to make. `reason` is why, in its own words or as proven. */
export type ProposedCall = { tool: string; input: unknown; reason: string };

/** Lets the run propose calls to a person. The same call of a run is proposed once, also if an attempt is repeated. */
export const createProposer =
  ({ db, clock }: { db: Db; clock: Clock }, run: ActiveRun): NonNullable<ActiveRun['propose']> =>
  (tool, input, reason) =>
    inOrg(db, run.orgId, async (tx) => {
      await fenceRun(tx, run.claim);
      return storeProposal(tx, run, { tool, input, reason }, clock());
    });

/** Stores a call that waits for a person, in a fenced transaction. Returns what the agent is told. */
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
