import { sql } from 'kysely';
import { queryRow, queryRows, type Tx } from '../../platform/db/db.ts';
import { detectionConditions } from '../../detection/detections/detection-views.store.ts';
import { replaceValue } from '../../platform/db/erasure.store.ts';
import { lockName } from '../../platform/db/lock-name.store.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import type { HuntInput, HuntKind } from './hunts.schema.ts';

export type HuntRow = {
  id: string;
  name: string;
  kind: HuntKind;
  question: string;
  words: string | null;
  rowMeaning: string | null;
  connectionId: string | null;
  spanDays: number | null;
  fromAt: Date | null;
  toAt: Date | null;
  cadence: HuntInput['cadence'];
  nextRunAt: Date | null;
  createdAt: Date;
  updatedAt: Date;
};

const huntColumns = sql`h.id, h.name, h.kind, h.question, h.words, h.row_meaning as "rowMeaning", h.connection_id as "connectionId", h.span_days as "spanDays",
  h.from_at as "fromAt", h.to_at as "toAt", h.cadence, h.next_run_at as "nextRunAt", h.created_at as "createdAt", h.updated_at as "updatedAt"`;

/** Lists the hunts of an organization, by name. */
export const listHuntRows = (tx: Tx, orgId: OrgId): Promise<HuntRow[]> =>
  queryRows<HuntRow>(tx)`select ${huntColumns} from hunts h where h.organization_id = ${orgId} order by h.name, h.id`;

/** Finds a hunt and locks it until the transaction ends. */
export const lockHunt = (tx: Tx, orgId: OrgId, id: string): Promise<HuntRow | undefined> =>
  queryRow<HuntRow>(tx)`
    select ${huntColumns} from hunts h where h.organization_id = ${orgId} and h.id = ${id} for update`;

/** Waits for other changes of the hunts of an organization, so that names and numbers stay within their limits. */
export const lockHunts = (tx: Tx, orgId: OrgId): Promise<void> => lockName(tx, `hunts ${orgId}`);

/** Stores a new hunt or new settings of one. One that gets a cadence is due at once. */
export async function storeHunt(
  tx: Tx,
  orgId: OrgId,
  { id, name, kind, question, words, rowMeaning, connectionId, span, cadence }: HuntInput & { id: string },
  now: Date,
): Promise<void> {
  const { days, from, to } = { days: null, from: null, to: null, ...span };
  await sql`
    insert into hunts as h (organization_id, id, name, kind, question, words, row_meaning, connection_id, span_days, from_at, to_at, cadence, next_run_at, created_at,
      updated_at)
    values (${orgId}, ${id}, ${name}, ${kind}, ${question}, ${words}, ${rowMeaning}, ${connectionId}, ${days}, ${from}, ${to}, ${cadence}, ${cadence && now}, ${now},
      ${now})
    on conflict (organization_id, id) do update set name = excluded.name, kind = excluded.kind, question = excluded.question, words = excluded.words,
      row_meaning = excluded.row_meaning,
      connection_id = excluded.connection_id, span_days = excluded.span_days, from_at = excluded.from_at, to_at = excluded.to_at, cadence = excluded.cadence,
      next_run_at = case when h.cadence is not distinct from excluded.cadence then h.next_run_at else excluded.next_run_at end,
      updated_at = greatest(excluded.updated_at, h.updated_at + interval '1 millisecond')`.execute(tx);
}

/** Deletes a hunt with its runs. Findings that joined incidents stay there. */
export async function deleteHunt(tx: Tx, orgId: OrgId, id: string): Promise<void> {
  await sql`delete from hunts where organization_id = ${orgId} and id = ${id}`.execute(tx);
}

/** Replaces a value in hunts, their runs and their findings. */
export async function eraseFromHunts(tx: Tx, orgId: OrgId, value: string): Promise<Record<string, never>> {
  await replaceValue(tx, { orgId, table: 'hunts', columns: ['name', 'question', 'words', 'row_meaning'] }, value);
  await replaceValue(tx, { orgId, table: 'hunt_runs', columns: ['question', 'queries', 'warnings', 'failure'] }, value);
  await replaceValue(tx, { orgId, table: 'hunt_findings', columns: ['row_id', 'entity', 'detail', 'fields'] }, value);
  return {};
}

export type TechniqueQueryRow = {
  id: string;
  name: string;
  category: string;
  query: string;
  connectionId: string | null;
  siemType: string | null;
  entityField: string | null;
  timeField: string | null;
};

/** Lists the detections that are tagged with a technique or one of its sub-techniques, enabled or not. */
export const listTechniqueQueries = (tx: Tx, orgId: OrgId, technique: string): Promise<TechniqueQueryRow[]> =>
  queryRows<TechniqueQueryRow>(tx)`
    select a.id, a.name, a.detection_category as category, a.detection_query as query, a.connection_id as "connectionId", a.siem_type as "siemType",
      a.entity_field as "entityField", a.time_field as "timeField"
    from agents a where a.organization_id = ${orgId} and ${sql.join(detectionConditions({}), sql` and `)} and a.detection_query is not null
      and exists (select from unnest(a.tags) tag where tag = ${`attack.${technique.toLowerCase()}`} or tag like ${`attack.${technique.toLowerCase()}.%`})
    order by a.name, a.id`;
