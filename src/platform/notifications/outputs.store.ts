import { sql, type RawBuilder } from 'kysely';
import { queryRow, queryRows, type Tx } from '../db/db.ts';
import type { OrgId } from '../lib/org-id.ts';
import type { PageRequest } from '../lib/page-request.ts';
import type { Output, OutputKind } from './outputs.schema.ts';

export type OutputRow = {
  organization_id: OrgId;
  id: string;
  kind: OutputKind;
  name: string;
  shown_url: string;
  sealed: Buffer;
  event_types: Output['eventTypes'];
  detection_ids: string[] | null;
  min_severity: Output['minSeverity'];
  enabled: boolean;
  disabled_reason: string | null;
  failures: number;
  created_at: Date;
  updated_at: Date;
};

type OutputColumns = Omit<OutputRow, 'organization_id' | 'id' | 'created_at' | 'updated_at' | 'failures'>;

export async function insertOutput(
  tx: Tx,
  ref: { orgId: OrgId; id: string; now: Date },
  output: OutputColumns,
): Promise<OutputRow> {
  const inserted = await queryRow<OutputRow>(tx)`
      insert into outputs (organization_id, id, kind, name, shown_url, sealed, event_types, detection_ids, min_severity, enabled,
        disabled_reason, created_at, updated_at)
      values (${ref.orgId}, ${ref.id}, ${output.kind}, ${output.name}, ${output.shown_url}, ${output.sealed}, ${output.event_types}::text[],
        ${output.detection_ids}::uuid[], ${output.min_severity}, ${output.enabled}, ${output.disabled_reason}, ${ref.now}, ${ref.now})
      returning *`;
  return inserted!;
}

/** Stores the changeable columns. `updated_at` always increases. */
export async function updateOutput(tx: Tx, output: OutputRow, now: Date): Promise<OutputRow> {
  const stored = await queryRow<OutputRow>(tx)`
      update outputs set name = ${output.name}, shown_url = ${output.shown_url}, sealed = ${output.sealed},
        event_types = ${output.event_types}::text[], detection_ids = ${output.detection_ids}::uuid[], min_severity = ${output.min_severity},
        enabled = ${output.enabled}, disabled_reason = ${output.disabled_reason}, failures = ${output.failures},
        updated_at = greatest(${now}::timestamptz, updated_at + interval '1 millisecond')
      where organization_id = ${output.organization_id} and id = ${output.id} returning *`;
  return stored!;
}

/** Deletes a destination and its deliveries. */
export async function deleteOutput(tx: Tx, orgId: OrgId, id: string): Promise<void> {
  await sql`delete from outputs where organization_id = ${orgId} and id = ${id}`.execute(tx);
}

export function findOutput(
  tx: Tx,
  orgId: OrgId,
  id: string,
  options = { lock: false },
): Promise<OutputRow | undefined> {
  return queryRow<OutputRow>(
    tx,
  )`select * from outputs where organization_id = ${orgId} and id = ${id} ${options.lock ? sql`for update` : sql``}`;
}

/** Returns up to `limit` + 1 destinations, newest first. */
export function findOutputs(tx: Tx, orgId: OrgId, { limit, after }: PageRequest): Promise<OutputRow[]> {
  return queryRows<OutputRow>(tx)`
      select * from outputs where organization_id = ${orgId} ${afterCursor(after)} order by created_at desc, id desc limit ${limit + 1}`;
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
