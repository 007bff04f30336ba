import { acrossOrgs, type Db, type Tx } from '../../../platform/db/db.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import { severities } from '../../analysis/candidate.ts';
import {
  advanceSlot,
  listHitTriggers,
  lockDueSlotsAcrossOrgs,
  lockHitTriggers,
  type TriggerRow,
} from '../../detections/triggers/agent-triggers.store.ts';
import type { Hit } from '../../hits/hits.schema.ts';
import { toHit } from '../../hits/read-hits.ts';
import { listLiveHitsById } from '../../hits/read-hits.store.ts';
import type { InputValues } from '../../detections/record/input-values.ts';
import type { TriggerSettings } from '../../detections/triggers/agent-triggers.schema.ts';
import { startTriggeredRuns } from './start-responses.store.ts';

/**
 * Starts runs of the response agents whose triggers wait for hits like these, in the transaction that stores them. Only new hits count. Those of one
 * group start one run together, on the most severe of them.
 */
export async function fireHitTriggers(tx: Tx, orgId: OrgId, ids: readonly string[], now: Date): Promise<void> {
  const triggers = ids.length === 0 ? [] : await listHitTriggers(tx, orgId);
  if (triggers.length === 0) return;
  const rows = await listLiveHitsById(tx, orgId, [...ids]);
  const hits = rows.filter(({ revision }) => revision === 1).map(toHit);
  const listMatching = (trigger: TriggerRow): Hit[] =>
    hits.filter((hit) => new Date(hit.createdAt) >= trigger.createdAt && matchesFilter(hit, trigger));
  const concerned = triggers.filter((trigger) => listMatching(trigger).length > 0);
  // Only those that start a run are locked, so that hits which are found again wait for nobody.
  for (const trigger of concerned.length === 0 ? [] : await lockHitTriggers(tx, orgId, concerned)) {
    const matching = listMatching(trigger);
    const byCase = Map.groupBy(matching, ({ id, groupId }) => groupId ?? id);
    const events = [...byCase].map(([key, members]) => {
      const hit = members.reduce((worst, one) => (rank(one) > rank(worst) ? one : worst));
      return { key, hitId: hit.id, inputs: readEventInputs(trigger.settings.inputs, hit) };
    });
    await startTriggeredRuns(tx, orgId, { trigger, events }, now);
  }
}

const rank = ({ severity }: Pick<Hit, 'severity'>): number => severities.indexOf(severity);

function matchesFilter(hit: Hit, { settings: { filter } }: TriggerRow): boolean {
  const { severity, detections, tags, entityTypes } = filter;
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
export function readEventInputs(sources: TriggerSettings['inputs'], event: unknown): InputValues {
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
