import { sql, type RawBuilder } from 'kysely';
import { queryRows, type Tx } from '../db/db.ts';
import { uuidv7 } from '../lib/ids.ts';
import {
  eventBody,
  eventSeverities,
  eventTypes,
  isStreamed,
  type EventType,
  type OutgoingEvent,
} from './event-types.ts';

const batchMax = 200;

/** The condition that a time is within hours: an object with `timeZone`, `days`, `from` and `to`. Hours that end on the next day belong to the day on which they begin. */
export function isWithinHours(hours: RawBuilder<unknown>, at: Date): RawBuilder<boolean> {
  const local = sql`${at}::timestamptz at time zone (${hours} ->> 'timeZone')`;
  const time = sql`to_char(${local}, 'HH24:MI')`;
  const isOn = (day: RawBuilder<unknown>) => sql`${hours} -> 'days' ? lower(to_char(${day}, 'Dy'))`;
  const isAfter = sql`${isOn(local)} and ${time} >= ${hours} ->> 'from'`;
  return sql`case when ${hours} ->> 'from' < ${hours} ->> 'to' then ${isAfter} and ${time} < ${hours} ->> 'to'
    else ${isAfter} or ${isOn(sql`${local} - interval '1 day'`)} and ${time} < ${hours} ->> 'to' end`;
}

const streamedTypes = eventTypes.filter(isStreamed);

/**
 * Stores events for the destinations that subscribe to them and for clients that listen, in the transaction of the change. `createEvents` is
 * called only with organizations that have a destination for one of the types or a listening client. Events for others are dropped.
 */
export async function emitEvents(
  tx: Tx,
  orgIds: readonly string[],
  types: readonly EventType[],
  createEvents: (subscribedOrgIds: ReadonlySet<string>) => OutgoingEvent[] | Promise<OutgoingEvent[]>,
): Promise<void> {
  const subscribedOrgIds = await findSubscribedOrgIds(tx, orgIds, types);
  if (subscribedOrgIds.size === 0) return;
  const events = (await createEvents(subscribedOrgIds)).filter((event) => subscribedOrgIds.has(event.orgId));
  for (let start = 0; start < events.length; start += batchMax) {
    await insertEvents(tx, events.slice(start, start + batchMax));
  }
}

async function findSubscribedOrgIds(
  tx: Tx,
  orgIds: readonly string[],
  types: readonly EventType[],
): Promise<Set<string>> {
  if (orgIds.length === 0 || types.length === 0) return new Set();
  const subscribed = await queryRows<{ id: string }>(tx)`
      select distinct organization_id as id from destinations
      where organization_id = any(${[...new Set(orgIds)]}::uuid[]) and enabled and event_types && ${[...new Set(types)]}::text[]
      union select id from organizations
      where id = any(${types.some(isStreamed) ? [...new Set(orgIds)] : []}::uuid[]) and listening_until > clock_timestamp()`;
  return new Set(subscribed.map(({ id }) => id));
}

/**
 * Inserts one outbox row per event that somebody receives and one delivery per destination that subscribes to its type and whose filters it
 * passes. A destination with an open ticket about the resource hears of it whatever the filters say, or the ticket would stay open.
 */
async function insertEvents(tx: Tx, events: OutgoingEvent[]): Promise<void> {
  const at = new Date();
  const ids = events.map(() => uuidv7(at));
  const column = (pick: (event: OutgoingEvent) => string | null): (string | null)[] => events.map(pick);
  await sql`
    with emitted as (
      select * from unnest(${column((event) => event.orgId)}::uuid[], ${ids}::uuid[],
        ${column((event) => event.type)}::text[], ${column((event) => event.resourceId)}::text[],
        ${column((event) => event.detectionId ?? null)}::uuid[], ${column((event) => event.severity ?? null)}::text[],
        ${column(({ tags }) => (tags ? JSON.stringify(tags) : null))}::jsonb[], ${column(({ lists }) => (lists ? JSON.stringify(lists) : null))}::jsonb[],
        ${events.map((event, index) => eventBody(event, { id: ids[index]!, at }))}::text[])
        as g (organization_id, id, type, resource_id, detection_id, severity, tags, lists, body)
    ), subscribed as (
      select g.*, o.id as destination_id from emitted g join destinations o on o.organization_id = g.organization_id
      where o.enabled and g.type = any(o.event_types)
        and (g.detection_id is null or o.detection_ids is null or g.detection_id = any(o.detection_ids))
        and ((g.severity is null or o.min_severity is null
            or array_position(${[...eventSeverities]}::text[], g.severity) >= array_position(${[...eventSeverities]}::text[], o.min_severity))
          and (g.tags is null or o.tags is null or g.tags ?| o.tags)
          and (g.lists is null or o.entity_lists is null or g.lists ?| o.entity_lists)
          and (o.hours is null or g.type = 'feed.digest.ready' or ${isWithinHours(sql`o.hours`, at)})
          or exists (select from tickets t where t.organization_id = o.organization_id and t.destination_id = o.id
            and t.resource_id = g.resource_id and t.state <> 'closed'))
    ), event as (
      insert into outbox (organization_id, id, at, type, resource_id, body)
      select organization_id, id, ${at}::timestamptz, type, resource_id, body from subscribed
      union select g.organization_id, g.id, ${at}::timestamptz, g.type, g.resource_id, g.body from emitted g
        join organizations o on o.id = g.organization_id and o.listening_until > clock_timestamp() where g.type = any(${streamedTypes}::text[])
    )
    insert into deliveries (organization_id, id, destination_id, event_id, event_at, event_type, resource_id, created_at)
    select organization_id, gen_random_uuid(), destination_id, id, ${at}::timestamptz, type, resource_id, ${at}::timestamptz
      from subscribed`.execute(tx);
}
