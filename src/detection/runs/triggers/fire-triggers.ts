import { timingSafeEqual } from 'node:crypto';
import { acrossOrgs, type Db, inOrg, type Tx } from '../../../platform/db/db.ts';
import { appError } from '../../../platform/lib/errors.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import type { Secretbox } from '../../../platform/lib/secretbox.ts';
import type { Clock } from '../../../platform/lib/time/clock.ts';
import { signDelivery } from '../../../platform/notifications/destination-secrets.ts';
import { severities } from '../../analysis/candidate.ts';
import { type AgentInputs, type InputValues, readInputValues } from '../../detections/record/input-values.ts';
import { triggerSources } from '../../detections/record/detection.schema.ts';
import type { TriggerSettings, TriggerSource } from '../../detections/triggers/agent-triggers.schema.ts';
import {
  advanceSlot,
  findWebhookAcrossOrgs,
  listEventTriggers,
  lockDueSlotsAcrossOrgs,
  lockEventTriggers,
  lockTrigger,
  type TriggerRow,
} from '../../detections/triggers/agent-triggers.store.ts';
import type { Hit } from '../../hits/hits.schema.ts';
import { listLiveHitsById } from '../../hits/read-hits.store.ts';
import { toHit } from '../../hits/read-hits.ts';
import { openTriggerSecret } from '../../response-agents/agent-triggers.ts';
import type { RunStarted } from '../run-model/runs.schema.ts';
import { readAgentInputs, startTriggeredRuns, type TriggerEvent } from './start-responses.store.ts';

/**
 * Starts runs of the response agents whose triggers wait for hits like these, in the transaction that stores them. Only new hits count. Those of one
 * group start one run together, on the most severe of them.
 */
export async function fireHitTriggers(tx: Tx, orgId: OrgId, ids: readonly string[], now: Date): Promise<void> {
  const triggers = ids.length === 0 ? [] : await listEventTriggers(tx, orgId, ['hit.created']);
  if (triggers.length === 0) return;
  const rows = await listLiveHitsById(tx, orgId, [...ids]);
  const hits = rows.filter(({ revision }) => revision === 1).map(toHit);
  const listMatching = (trigger: TriggerRow): Hit[] =>
    hits.filter((hit) => new Date(hit.createdAt) >= trigger.createdAt && matchesFilter(hit, trigger.settings.filter));
  const concerned = triggers.filter((trigger) => listMatching(trigger).length > 0);
  // Only those that start a run are locked, so that hits which are found again wait for nobody.
  for (const trigger of concerned.length === 0 ? [] : await lockEventTriggers(tx, orgId, concerned)) {
    const matching = listMatching(trigger);
    const byCase = Map.groupBy(matching, ({ id, groupId }) => groupId ?? id);
    const events = [...byCase].map(([key, members]) => {
      const hit = members.reduce((worst, one) => (rank(one) > rank(worst) ? one : worst));
      return { key, hitId: hit.id, inputs: readEventInputs(trigger.settings.inputs, hit) };
    });
    await startTriggeredRuns(tx, orgId, { trigger, events }, now);
  }
}

/** An incident that is new, has other hits, or was closed. Its record has the fields of `GET /api/incidents`. */
export type IncidentEvent = {
  source: Extract<TriggerSource, `incident.${string}`>;
  incident: { id: string; severity: Hit['severity']; revision: number; updatedAt: string };
};

const incidentSources = triggerSources.filter((source) => source.startsWith('incident.'));

type IncidentSources = {
  readEvents: () => Promise<IncidentEvent[]>;
  /** Returns hits of an incident. */
  readHits: (incidentId: string) => Promise<Hit[]>;
};

/**
 * Starts runs of the response agents whose triggers wait for incidents, in the transaction that changes them. The case of such a run is the most severe hit
 * of the incident that meets the filter, or the incident as a whole.
 */
export async function fireIncidentTriggers(
  tx: Tx,
  orgId: OrgId,
  { readEvents, readHits }: IncidentSources,
): Promise<void> {
  const waiting = await listEventTriggers(tx, orgId, incidentSources);
  const events = waiting.length === 0 ? [] : await readEvents();
  if (events.length === 0) return;
  const now = new Date(Math.max(...events.map(({ incident }) => Date.parse(incident.updatedAt))));
  const hitsOf = new Map<string, Hit[]>();
  for (const { incident } of events)
    hitsOf.set(
      incident.id,
      (await readHits(incident.id)).toSorted((a, b) => rank(b) - rank(a)),
    );
  for (const trigger of await lockEventTriggers(tx, orgId, waiting)) {
    const { severity = 'none', ...ofHits } = trigger.settings.filter;
    const matching = events.flatMap(({ source, incident }): TriggerEvent[] => {
      const hit = hitsOf.get(incident.id)!.find((one) => matchesFilter(one, ofHits));
      if (source !== trigger.source || !hit || rank(incident) < rank({ severity })) return [];
      const key = `${incident.id} ${incident.revision}`;
      const inputs = readEventInputs(trigger.settings.inputs, incident);
      const hitId = trigger.settings.about === 'incident' ? null : hit.id;
      return [{ key, hitId, incidentId: incident.id, inputs }];
    });
    await startTriggeredRuns(tx, orgId, { trigger, events: matching }, now);
  }
}

const rank = ({ severity }: Pick<Hit, 'severity'>): number => severities.indexOf(severity);

function matchesFilter(hit: Hit, { severity, detections, tags, entityTypes }: TriggerSettings['filter']): boolean {
  return (
    (severity === undefined || rank(hit) >= rank({ severity })) &&
    (detections === undefined || detections.includes(hit.detectionId)) &&
    (tags === undefined || tags.some((tag) => hit.detection.tags.includes(tag.toLowerCase()))) &&
    (entityTypes === undefined || entityTypes.includes(hit.entityType))
  );
}

const slotsMax = 100;

/** Starts the runs of response agents whose slot has come. Safe to call concurrently. Returns whether more may be due. */
export function fireDueSchedulesAcrossOrgs(db: Db, now: Date): Promise<boolean> {
  return acrossOrgs(db, async (tx) => {
    const due = await lockDueSlotsAcrossOrgs(tx, now, slotsMax);
    for (const slot of due) {
      const inputs = readEventInputs(slot.trigger.settings.inputs, {});
      const event = { key: slot.slotAt.toISOString(), hitId: null, inputs };
      await startTriggeredRuns(tx, slot.orgId, { trigger: slot.trigger, events: [event] }, now);
      await advanceSlot(tx, slot, now);
    }
    return due.length === slotsMax;
  });
}

const textMax = 20_000;

/**
 * Returns what a trigger sets the inputs of its agent to: fixed values and values of an event. A place that the event does not have sets nothing, and
 * an object or an array is given as JSON text. The run checks the values against the inputs as the agent then declares them.
 */
function readEventInputs(sources: TriggerSettings['inputs'], event: unknown): InputValues {
  const values = Object.entries(sources).flatMap(([name, source]): [string, InputValues[string]][] => {
    const value = 'value' in source ? source.value : readPointer(event, source.from);
    if (value === undefined || value === null) return [];
    if (typeof value === 'number' || typeof value === 'boolean') return [[name, value]];
    return [[name, (typeof value === 'string' ? value : JSON.stringify(value)).slice(0, textMax)]];
  });
  return Object.fromEntries(values);
}

/** Returns the value at a JSON pointer (RFC 6901), or undefined. */
function readPointer(document: unknown, pointer: string): unknown {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<unknown>(
      (value, key) =>
        typeof value === 'object' && value !== null && Object.hasOwn(value, key)
          ? (value as Record<string, unknown>)[key]
          : undefined,
      document,
    );
}

export type ReceiveWebhookDeps = { db: Db; clock: Clock; secrets: Secretbox };

/** A call of a webhook as it was received: the headers of Standard Webhooks 1.0, and the body byte for byte. */
type WebhookCall = { id: string; timestamp: string; signature: string; body: string };

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
