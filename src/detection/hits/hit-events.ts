import type { Tx } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { emitEvents } from '../../platform/notifications/emit-events.ts';
import type { OutgoingEvent } from '../../platform/notifications/event-types.ts';
import { readRoutingLists } from '../value-lists/value-lists.store.ts';
import { severities, type Facts, type RenderedRow } from '../analysis/candidate.ts';
import { countGroupEvent, listAnnouncedGroups, listGrownGroups, markGroupChanged, findGroup } from './groups.store.ts';
import { toHitGroup, toHit } from './read-hits.ts';
import { listHitsById, listLiveHitsById, type EventHitRow } from './read-hits.store.ts';

/**
 * Emits `hit.created` for the first revision of each hit, otherwise `hit.updated`, with the facts and up to five rows as rendered. Claims
 * that are not proven leave with their status and reason, and are not in the summary.
 */
export async function emitHitEvents(tx: Tx, orgId: OrgId, ids: string[]): Promise<void> {
  if (ids.length > 0)
    await emit(tx, orgId, async () => {
      const findLists = await readRoutingLists(tx, orgId);
      return (await listHitsById(tx, orgId, ids)).map((row) => toEvent(orgId, row, findLists));
    });
}

/**
 * Like `emitHitEvents`, but skips hits of deleted detections and emits one event per group: `hit.created` when the wave is first
 * noticed and `hit.updated` when its hits change. Hits that join it later are announced when the run ends. For hits that a run changed.
 */
export async function emitRunHitEvents(tx: Tx, orgId: OrgId, ids: string[]): Promise<void> {
  if (ids.length === 0) return;
  await emit(tx, orgId, async () => {
    const rows = await listLiveHitsById(tx, orgId, ids);
    const byGroup = Map.groupBy(rows, ({ groupId }) => groupId);
    const announced = await listAnnouncedGroups(
      tx,
      orgId,
      [...byGroup.keys()].filter((id) => id !== null),
    );
    const findLists = await readRoutingLists(tx, orgId);
    const events: OutgoingEvent[] = [];
    for (const [groupId, members] of byGroup) {
      if (groupId === null) events.push(...members.map((row) => toEvent(orgId, row, findLists)));
      else if (!announced.has(groupId) || members.some(({ revision }) => revision > 1))
        events.push(...(await toGroupEvent(tx, orgId, groupId, members)));
    }
    return events;
  });
}

/** Emits `hit.updated` for a hit that a later verdict changed. Changes of a group are announced when the run ends. */
export async function emitLateVerdict(
  tx: Tx,
  orgId: OrgId,
  hit: { id: string; groupId: string | null },
): Promise<void> {
  if (hit.groupId === null) await emitRunHitEvents(tx, orgId, [hit.id]);
  else await markGroupChanged(tx, orgId, hit.groupId);
}

/** Emits `hit.updated` for a group whose hits a person changed. */
export async function emitGroupEvent(tx: Tx, orgId: OrgId, groupId: string): Promise<void> {
  await emit(tx, orgId, () => toGroupEvent(tx, orgId, groupId));
}

/** Emits `hit.updated` for the groups of a detection that have grown or changed since their latest event. */
export async function emitGrownGroupEvents(tx: Tx, orgId: OrgId, detectionId: string): Promise<void> {
  const ids = await listGrownGroups(tx, orgId, detectionId);
  for (const id of ids) await emitGroupEvent(tx, orgId, id);
}

function emit(tx: Tx, orgId: OrgId, createEvents: () => Promise<OutgoingEvent[]>): Promise<void> {
  return emitEvents(tx, [orgId], ['hit.created', 'hit.updated'], createEvents);
}

const rowsMax = 5;

type FindLists = Awaited<ReturnType<typeof readRoutingLists>>;

function toEvent(orgId: OrgId, { facts, rows, ...row }: EventHitRow, findLists: FindLists): OutgoingEvent {
  const hit = toHit(row);
  const shownRows = (JSON.parse(rows) as RenderedRow[]).slice(0, rowsMax);
  return {
    orgId,
    type: hit.revision === 1 ? 'hit.created' : 'hit.updated',
    resourceId: hit.id,
    revision: hit.revision,
    data: { organizationId: orgId, ...hit, facts: JSON.parse(facts) as Facts, rows: shownRows },
    detectionId: hit.detectionId,
    severity: hit.severity,
    tags: hit.detection.tags,
    lists: findLists([hit.entity]),
  };
}

/** Returns the event of a group: the most severe of the changed hits, with the figures of the group as `group`. */
async function toGroupEvent(
  tx: Tx,
  orgId: OrgId,
  groupId: string,
  members: EventHitRow[] = [],
): Promise<OutgoingEvent[]> {
  const row = await findGroup(tx, orgId, groupId);
  const counted = row && (await countGroupEvent(tx, orgId, groupId));
  if (!counted) return [];
  const group = toHitGroup(row);
  const hits = members.length > 0 ? members : await listLiveHitsById(tx, orgId, [group.entities[0]!.hitId]);
  const [hit] = hits.toSorted((a, b) => severities.indexOf(b.severity) - severities.indexOf(a.severity));
  if (!hit) return [];
  const findLists = await readRoutingLists(tx, orgId);
  const event = toEvent(orgId, hit, findLists);
  return [
    {
      ...event,
      type: counted.announced === 0 ? 'hit.created' : 'hit.updated',
      resourceId: groupId,
      revision: counted.revision,
      data: { ...(event.data as object), group },
      severity: group.severity,
      lists: findLists(hits.map(({ entity }) => entity)),
    },
  ];
}
