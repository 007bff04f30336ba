import { queryRows, type Tx } from '../../platform/db/db.ts';
import type { Author } from '../../platform/http/caller.ts';
import { uuidv7 } from '../../platform/lib/ids.ts';

/** A row that a hunt found. `fields` is JSON text. `key` identifies it among all runs of hunts. */
export type AttachedFinding = {
  key: string;
  at: Date | null;
  huntId: string;
  huntName: string;
  query: string;
  dataset: string | null;
  rowId: string;
  entity: string | null;
  fields: string;
};

type NewFindings = { incidentId: string; findings: readonly AttachedFinding[]; now: Date };

/** Copies findings into an incident. Returns the number of those that it did not have. */
export async function insertFindings(
  tx: Tx,
  { orgId, keyId, subject }: Author,
  { incidentId, findings, now }: NewFindings,
): Promise<number> {
  const column = <Name extends keyof AttachedFinding>(name: Name): AttachedFinding[Name][] =>
    findings.map((one) => one[name]);
  const added = await queryRows<{ id: string }>(tx)`
    insert into incident_findings (organization_id, id, incident_id, at, hunt_id, hunt_name, finding_key, query, dataset, row_id, entity, fields, added_at, key_id, actor)
    select ${orgId}::uuid, f.id, ${incidentId}::uuid, coalesce(f.at, ${now}::timestamptz), f.hunt_id, f.hunt_name, f.key, f.query, f.dataset, f.row_id, f.entity,
      f.fields, ${now}::timestamptz, ${keyId}, ${subject ?? null}
    from unnest(${findings.map(() => uuidv7(now))}::uuid[], ${column('at')}::timestamptz[], ${column('huntId')}::uuid[], ${column('huntName')}::text[],
      ${column('key')}::text[], ${column('query')}::text[], ${column('dataset')}::text[], ${column('rowId')}::text[], ${column('entity')}::text[],
      ${column('fields')}::text[]) as f (id, at, hunt_id, hunt_name, key, query, dataset, row_id, entity, fields)
    on conflict do nothing returning id`;
  return added.length;
}
