import { sql, type RawBuilder } from 'kysely';
import { queryRow, queryRows, type Tx } from '../db/db.ts';
import type { OrgId } from '../lib/org-id.ts';
import type { PageRequest } from '../lib/page-request.ts';
import type { DestinationKind } from './destination-kinds.ts';
import type { Destination } from './destinations.schema.ts';

export type DestinationRow = {
  organization_id: OrgId;
  id: string;
  kind: DestinationKind;
  name: string;
  shown_url: string;
  settings: Record<string, unknown>;
  sealed: Buffer;
  event_types: Destination['eventTypes'];
  detection_ids: string[] | null;
  min_severity: Destination['minSeverity'];
  tags: string[] | null;
  entity_lists: string[] | null;
  hours: Destination['hours'];
  enabled: boolean;
  disabled_reason: string | null;
  failures: number;
  tickets_due_at: Date;
  tickets_until: Date | null;
  tickets_failures: number;
  tickets_error: string | null;
  created_at: Date;
  updated_at: Date;
};

type NewRow = Omit<DestinationRow, 'organization_id' | 'updated_at' | 'failures' | `tickets_${string}`>;

export async function insertDestination(tx: Tx, orgId: OrgId, row: NewRow): Promise<DestinationRow> {
  const inserted = await queryRow<DestinationRow>(tx)`
      insert into destinations (organization_id, id, kind, name, shown_url, settings, sealed, event_types, detection_ids, min_severity, tags, entity_lists, hours, enabled,
        disabled_reason, created_at, updated_at)
      values (${orgId}, ${row.id}, ${row.kind}, ${row.name}, ${row.shown_url}, ${JSON.stringify(row.settings)}::jsonb, ${row.sealed}, ${row.event_types}::text[],
        ${row.detection_ids}::uuid[], ${row.min_severity}, ${row.tags}::text[], ${row.entity_lists}::text[], ${row.hours && JSON.stringify(row.hours)}::jsonb, ${row.enabled}, ${row.disabled_reason}, ${row.created_at}, ${row.created_at})
      returning *`;
  return inserted!;
}

/** Stores the changeable columns. `updated_at` always increases. */
export async function updateDestination(tx: Tx, destination: DestinationRow, now: Date): Promise<DestinationRow> {
  const stored = await queryRow<DestinationRow>(tx)`
      update destinations set name = ${destination.name}, shown_url = ${destination.shown_url},
        settings = ${JSON.stringify(destination.settings)}::jsonb, sealed = ${destination.sealed},
        event_types = ${destination.event_types}::text[], detection_ids = ${destination.detection_ids}::uuid[], min_severity = ${destination.min_severity},
        tags = ${destination.tags}::text[], entity_lists = ${destination.entity_lists}::text[], hours = ${destination.hours && JSON.stringify(destination.hours)}::jsonb,
        enabled = ${destination.enabled}, disabled_reason = ${destination.disabled_reason}, failures = ${destination.failures},
        updated_at = greatest(${now}::timestamptz, updated_at + interval '1 millisecond')
      where organization_id = ${destination.organization_id} and id = ${destination.id} returning *`;
  return stored!;
}

/** Deletes a destination and its deliveries. */
export async function deleteDestination(tx: Tx, orgId: OrgId, id: string): Promise<void> {
  await sql`delete from destinations where organization_id = ${orgId} and id = ${id}`.execute(tx);
}

export function findDestination(
  tx: Tx,
  orgId: OrgId,
  id: string,
  options = { lock: false },
): Promise<DestinationRow | undefined> {
  return queryRow<DestinationRow>(tx)`
    select * from destinations where organization_id = ${orgId} and id = ${id} ${options.lock ? sql`for update` : sql``}`;
}

/** Returns up to `limit` + 1 destinations, newest first. */
export function findDestinations(tx: Tx, orgId: OrgId, { limit, after }: PageRequest): Promise<DestinationRow[]> {
  return queryRows<DestinationRow>(tx)`
      select * from destinations where organization_id = ${orgId} ${afterCursor(after)} order by created_at desc, id desc limit ${limit + 1}`;
}

/** The condition, starting with `and`, for rows after a page cursor. */
export const afterCursor = (after: PageRequest['after']): RawBuilder<unknown> =>
  after ? sql`and (created_at, id) < (${after.at}, ${after.id}::uuid)` : sql``;

/** Returns up to 10 of the IDs that are not detections of the organization. */
export async function findUnknownDetections(tx: Tx, orgId: OrgId, ids: string[]): Promise<string[]> {
  const unknown = await queryRows<{ id: string }>(tx)`
      select g.id from unnest(${ids}::uuid[]) as g (id)
      where not exists (select from agents a where a.organization_id = ${orgId} and a.id = g.id and a.agent_type = 'detection')
      limit 10`;
  return unknown.map(({ id }) => id);
}

/** Returns up to 10 of the names that are not value lists of the organization. */
export async function findUnknownLists(tx: Tx, orgId: OrgId, names: string[]): Promise<string[]> {
  const unknown = await queryRows<{ name: string }>(tx)`
      select g.name from unnest(${names}::text[]) as g (name)
      where not exists (select from value_lists l where l.organization_id = ${orgId} and l.name = g.name) limit 10`;
  return unknown.map(({ name }) => name);
}
