import { sql, type RawBuilder } from 'kysely';
import { row, rows, type Tx } from '../db/db.ts';
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

type Columns = Omit<OutputRow, 'organization_id' | 'id' | 'created_at' | 'updated_at' | 'failures'>;

export async function insertOutput(
  tx: Tx,
  ref: { orgId: OrgId; id: string; now: Date },
  output: Columns,
): Promise<OutputRow> {
  const made = await row(
    tx,
    sql<OutputRow>`
      insert into outputs (organization_id, id, kind, name, shown_url, sealed, event_types, detection_ids, min_severity, enabled,
        disabled_reason, created_at, updated_at)
      values (${ref.orgId}, ${ref.id}, ${output.kind}, ${output.name}, ${output.shown_url}, ${output.sealed}, ${output.event_types}::text[],
        ${output.detection_ids}::uuid[], ${output.min_severity}, ${output.enabled}, ${output.disabled_reason}, ${ref.now}, ${ref.now})
      returning *`,
  );
  return made!;
}

/** Stores all columns that a change may touch; `updated_at` moves strictly forward. */
export async function updateOutput(tx: Tx, output: OutputRow, now: Date): Promise<OutputRow> {
  const stored = await row(
    tx,
    sql<OutputRow>`
      update outputs set name = ${output.name}, shown_url = ${output.shown_url}, sealed = ${output.sealed},
        event_types = ${output.event_types}::text[], detection_ids = ${output.detection_ids}::uuid[], min_severity = ${output.min_severity},
        enabled = ${output.enabled}, disabled_reason = ${output.disabled_reason}, failures = ${output.failures},
        updated_at = greatest(${now}::timestamptz, updated_at + interval '1 millisecond')
      where organization_id = ${output.organization_id} and id = ${output.id} returning *`,
  );
  return stored!;
}

/** With its deliveries. */
export async function deleteOutput(tx: Tx, orgId: OrgId, id: string): Promise<void> {
  await sql`delete from outputs where organization_id = ${orgId} and id = ${id}`.execute(tx);
}

export function findOutput(tx: Tx, orgId: OrgId, id: string, lock = false): Promise<OutputRow | undefined> {
  return row(
    tx,
    sql<OutputRow>`select * from outputs where organization_id = ${orgId} and id = ${id} ${lock ? sql`for update` : sql``}`,
  );
}

/** Newest first, `limit` + 1 of them. */
export function listOutputs(tx: Tx, orgId: OrgId, { limit, after }: PageRequest): Promise<OutputRow[]> {
  return rows(
    tx,
    sql<OutputRow>`
      select * from outputs where organization_id = ${orgId} ${afterMark(after)} order by created_at desc, id desc limit ${limit + 1}`,
  );
}

export const afterMark = (after: PageRequest['after']): RawBuilder<unknown> =>
  after ? sql`and (created_at, id) < (${after.at}, ${after.id}::uuid)` : sql``;

/** Those of the ids that no detection of the organization has. */
export async function unknownDetections(tx: Tx, orgId: OrgId, ids: string[]): Promise<string[]> {
  const found = await rows(
    tx,
    sql<{ id: string }>`
      select g.id from unnest(${ids}::uuid[]) as g (id)
      where not exists (select from agents a where a.organization_id = ${orgId} and a.id = g.id and a.agent_type = 'detection')
      limit 10`,
  );
  return found.map(({ id }) => id);
}
