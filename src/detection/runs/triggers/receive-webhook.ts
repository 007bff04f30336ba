import { timingSafeEqual } from 'node:crypto';
import { acrossOrgs, inOrg, type Db } from '../../../platform/db/db.ts';
import type { Clock } from '../../../platform/lib/time/clock.ts';
import { appError } from '../../../platform/lib/errors.ts';
import type { Secretbox } from '../../../platform/lib/secretbox.ts';
import { signDelivery } from '../../../platform/notifications/destination-secrets.ts';
import { readInputValues, type AgentInputs } from '../../detections/record/input-values.ts';
import { openTriggerSecret } from '../../response-agents/agent-triggers.ts';
import { findWebhookAcrossOrgs, lockTrigger } from '../../detections/triggers/agent-triggers.store.ts';
import type { RunStarted } from '../run-model/runs.schema.ts';
import { readEventInputs } from './fire-triggers.ts';
import { readAgentInputs, startTriggeredRuns } from './start-responses.store.ts';

export type ReceiveWebhookDeps = { db: Db; clock: Clock; secrets: Secretbox };

/** A call of a webhook as it was received: the headers of Standard Webhooks 1.0, and the body byte for byte. */
export type WebhookCall = { id: string; timestamp: string; signature: string; body: string };

/** Later or earlier calls are refused, and IDs are kept far longer, so that no call can be replayed. */
const toleranceMs = 5 * 60_000;
const idPattern = /^[\x21-\x7e]{1,200}$/;

/**
 * Starts a run of the agent whose trigger a signed call concerns. The same `webhook-id` starts one run, however often it is sent. Throws 401 for a call
 * that is not signed with the secret of the trigger or too old, 400 for a body that does not fit the inputs, and 429 beyond the limit per hour.
 */
export async function receiveWebhook(
  { db, clock, secrets }: ReceiveWebhookDeps,
  triggerId: string,
  call: WebhookCall,
): Promise<RunStarted> {
  const now = clock();
  const found = await acrossOrgs(db, (tx) => findWebhookAcrossOrgs(tx, triggerId));
  const secret = found && openTriggerSecret(secrets, found.orgId, found.trigger);
  if (!found || secret === undefined || !isSigned(call, secret, now)) throw unauthorized();
  const event = parseBody(call.body);
  const { orgId } = found;
  const runId = await inOrg(db, orgId, async (tx) => {
    const trigger = await lockTrigger(tx, orgId, triggerId);
    if (!trigger?.enabled) throw appError('conflict', 'The trigger is disabled.');
    const inputs = readInputValues(
      JSON.parse(await readAgentInputs(tx, orgId, trigger.agentId)) as AgentInputs,
      readEventInputs(trigger.settings.inputs, event),
    );
    const runs = await startTriggeredRuns(tx, orgId, { trigger, events: [{ key: call.id, hitId: null, inputs }] }, now);
    return runs.get(call.id) ?? null;
  });
  // Thrown after the commit, so that the event counts as skipped.
  if (runId === null) throw appError('rate_limited', 'The trigger has started as many runs in this hour as it may.');
  return { runId };
}

const unauthorized = () =>
  appError('unauthorized', 'The call is not signed with the secret of the trigger, or is more than five minutes old.');

function isSigned({ id, timestamp, signature, body }: WebhookCall, secret: string, now: Date): boolean {
  const at = new Date(Number(timestamp) * 1000);
  if (!idPattern.test(id) || !/^\d{1,12}$/.test(timestamp)) return false;
  if (Math.abs(now.getTime() - at.getTime()) > toleranceMs) return false;
  const expected = Buffer.from(signDelivery({ url: '', secret }, body, { id, at })['webhook-signature']!);
  return signature
    .split(' ')
    .slice(0, 10)
    .some((one) => {
      const given = Buffer.from(one);
      return given.length === expected.length && timingSafeEqual(given, expected);
    });
}

function parseBody(body: string): unknown {
  try {
    return body === '' ? {} : (JSON.parse(body) as unknown);
  } catch {
    throw appError('validation_failed', 'The body is not JSON.');
  }
}
