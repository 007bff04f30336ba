import type { Tx } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { emitEvents } from '../../platform/notifications/emit-events.ts';
import type { OutgoingEvent } from '../../platform/notifications/event-types.ts';
import type { Incident } from './incidents.schema.ts';
import { fireIncidentTriggers } from '../runs/triggers/fire-triggers.ts';
import { listLiveHitsById } from '../hits/read-hits.store.ts';
import { toHit } from '../hits/read-hits.ts';
import { readRoutingLists } from '../value-lists/value-lists.store.ts';
import { listHitEntities, listIncidentsById, listSevereHits, type IncidentRow } from './read-incidents.store.ts';
import { withIsoTimes } from '../../platform/lib/time/clock.ts';

/** Hits of an incident one of which may be the case of a run. */
const hitsReadMax = 200;

/** Emits `incident.created` for the first revision of each incident, otherwise `incident.updated`. */
export async function emitIncidentEvents(tx: Tx, orgId: OrgId, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await emitEvents(tx, [orgId], ['incident.created', 'incident.updated'], () =>
    createEvents(tx, orgId, ids, { toType: typeOf }),
  );
}

/** The names of the people whom a comment mentions, and of its author, who may be a key. The text stays in the comment, where it can be erased. */
type Mention = { mentioned: readonly string[]; author: string | null };

/** Emits `incident.mentioned`, so that people learn of a comment on an incident outside of the console. */
export async function emitMention(tx: Tx, orgId: OrgId, id: string, mention: Mention): Promise<void> {
  await emitEvents(tx, [orgId], ['incident.mentioned'], () =>
    createEvents(tx, orgId, [id], { toType: () => 'incident.mentioned', more: mention }),
  );
}

async function createEvents(
  tx: Tx,
  orgId: OrgId,
  ids: readonly string[],
  { toType, more }: { toType: (row: IncidentRow) => OutgoingEvent['type']; more?: object },
): Promise<OutgoingEvent[]> {
  const findLists = await readRoutingLists(tx, orgId);
  const entities = await listHitEntities(tx, orgId, ids);
  return (await listIncidentsById(tx, orgId, ids)).map((row) => ({
    orgId,
    type: toType(row),
    resourceId: row.id,
    revision: row.revision,
    data: { organizationId: orgId, ...toIncident(row), ...more },
    severity: row.severity,
    lists: findLists(entities.get(row.id) ?? []),
  }));
}

/** Emits the events of incidents whose hits changed, and starts the response agents that wait for them or, with `isClosed`, for incidents that close. */
export async function announceIncidents(
  tx: Tx,
  orgId: OrgId,
  ids: readonly string[],
  { isClosed = false } = {},
): Promise<void> {
  await emitIncidentEvents(tx, orgId, ids);
  if (ids.length === 0) return;
  await fireIncidentTriggers(tx, orgId, {
    readEvents: async () =>
      (await listIncidentsById(tx, orgId, ids)).map((row) => ({
        source: isClosed ? ('incident.closed' as const) : typeOf(row),
        incident: toIncident(row),
      })),
    readHits: async (id) =>
      (await listLiveHitsById(tx, orgId, await listSevereHits(tx, orgId, id, hitsReadMax))).map(toHit),
  });
}

const typeOf = ({ revision }: IncidentRow) =>
  revision === 1 ? ('incident.created' as const) : ('incident.updated' as const);

/** Returns the incident of a row, with the path of the console as `url`. */
export const toIncident = (row: IncidentRow): Incident => ({
  ...withIsoTimes(row),
  url: `/console/incidents/${row.id}`,
});
