import { inOrg, type Db } from '../../../platform/db/db.ts';
import type { Clock } from '../../../platform/lib/time/clock.ts';
import { fieldError } from '../../../platform/lib/errors.ts';
import { uuidv7 } from '../../../platform/lib/ids.ts';
import type { Caller } from '../../../platform/http/caller.ts';
import { requireScopes } from '../../../platform/orgs/credentials.ts';
import { requireModelAlias, type ModelAliases } from '../../detections/record/build-detection.ts';
import { readInputValues, type AgentInputs } from '../../detections/record/input-values.ts';
import { auditAgent } from '../../detections/read-detections.ts';
import { lockResponseAgent } from '../../response-agents/response-agents.ts';
import { findHit } from '../../hits/read-hits.store.ts';
import type { ResponseRequest, RunStarted } from '../run-model/runs.schema.ts';
import { insertResponseRuns } from '../triggers/start-responses.store.ts';

export type RequestResponseDeps = { db: Db; clock: Clock; models?: ModelAliases };

/**
 * Queues a run of a response agent, on a hit if the request has one. Throws 404 for an unknown agent, 400 for inputs that it does not declare and for an
 * unknown hit, and 409 if the agent has no model.
 */
export async function requestResponse(
  { db, clock, models }: RequestResponseDeps,
  caller: Caller,
  agentId: string,
  { hitId: requestedHit, question, inputs: given = {} }: ResponseRequest,
): Promise<RunStarted> {
  const { orgId } = caller;
  const now = clock();
  const runId = uuidv7(now);
  const hitId = requestedHit ?? null;
  // The verdict shows rows of the hit.
  if (hitId !== null) requireScopes(caller, ['hits:read']);
  await inOrg(db, orgId, async (tx) => {
    const agent = await lockResponseAgent(tx, { orgId, now }, agentId);
    requireModelAlias(models, agent.model_alias);
    const inputs = readInputValues(JSON.parse(agent.inputs) as AgentInputs, given);
    if (hitId !== null && !(await findHit(tx, orgId, hitId)))
      throw fieldError('/hitId', 'unknown_hit', `There is no hit ${hitId}.`);
    const event = { source: 'manual' as const, triggerId: null, hitId, inputs };
    await insertResponseRuns(tx, { orgId, agentId, kind: 'request', now }, [{ runId, event, question }], caller);
    await auditAgent(tx, caller, agent, { action: 'run.requested', before: null, after: { runId, hitId } });
  });
  return { runId };
}
