import { sql } from 'kysely';
import { queryRow, queryRows, type Tx } from '../db/db.ts';
import type { OrgId } from '../lib/org-id.ts';
import type { EnricherKind, EnrichmentFields } from './enricher-kinds.ts';

/** `settings` and `fields` are JSON text. `day_used` counts the look-ups of `day`. */
export type EnricherRow = {
  organization_id: OrgId;
  id: string;
  name: string;
  kind: EnricherKind;
  settings: string;
  sealed: Buffer | null;
  per_minute: number;
  per_day: number;
  cache_hours: number;
  cost_usd: number;
  enabled: boolean;
  day: string | null;
  day_used: number;
  failure: string | null;
  updated_at: Date;
};

const columns = sql`organization_id, id, name, kind, settings, sealed, per_minute, per_day, cache_hours, cost_usd, enabled, day, day_used, failure, updated_at`;

export const listEnrichers = (tx: Tx, orgId: OrgId): Promise<EnricherRow[]> =>
  queryRows<EnricherRow>(tx)`
    select ${columns} from enrichers where organization_id = ${orgId} order by name collate "C"`;

export const lockEnricher = (tx: Tx, orgId: OrgId, name: string): Promise<EnricherRow | undefined> =>
  queryRow<EnricherRow>(tx)`
    select ${columns} from enrichers where organization_id = ${orgId} and name = ${name} for update`;

/** Creates or replaces an enricher. Deletes its earlier answers, because its settings may differ. */
export async function upsertEnricher(
  tx: Tx,
  row: Omit<EnricherRow, 'day' | 'day_used' | 'failure'>,
): Promise<EnricherRow> {
  const stored = await queryRow<EnricherRow>(tx)`
      insert into enrichers (organization_id, id, name, kind, settings, sealed, per_minute, per_day, cache_hours, cost_usd, enabled, updated_at)
      values (${row.organization_id}, ${row.id}, ${row.name}, ${row.kind}, ${row.settings}, ${row.sealed}, ${row.per_minute}, ${row.per_day}, ${row.cache_hours},
        ${row.cost_usd}, ${row.enabled}, ${row.updated_at})
      on conflict (organization_id, name) do update set kind = excluded.kind, settings = excluded.settings, sealed = excluded.sealed,
        per_minute = excluded.per_minute, per_day = excluded.per_day, cache_hours = excluded.cache_hours, cost_usd = excluded.cost_usd,
        enabled = excluded.enabled, failure = null, updated_at = greatest(excluded.updated_at, enrichers.updated_at + interval '1 millisecond')
      returning ${columns}`;
  await sql`
    delete from enrichments where organization_id = ${row.organization_id} and enricher_id = ${stored!.id}`.execute(tx);
  return stored!;
}

export async function deleteEnricher(tx: Tx, { organization_id, id }: EnricherRow): Promise<void> {
  await sql`delete from enrichers where organization_id = ${organization_id} and id = ${id}`.execute(tx);
}

/** Counts a look-up. Returns false, and counts nothing, if the limit of the minute or of the day is reached. */
export async function takeLookUp(tx: Tx, { organization_id, id }: EnricherRow, now: Date): Promise<boolean> {
  const minute = sql`date_trunc('minute', ${now}::timestamptz)`;
  const day = sql`(${now}::timestamptz at time zone 'UTC')::date`;
  const taken = await queryRow(tx)`
      update enrichers set minute_used = case when minute = ${minute} then minute_used + 1 else 1 end, minute = ${minute},
        day_used = case when day = ${day} then day_used + 1 else 1 end, day = ${day}
      where organization_id = ${organization_id} and id = ${id} and enabled
        and (minute is distinct from ${minute} or minute_used < per_minute) and (day is distinct from ${day} or day_used < per_day) returning 1`;
  return taken !== undefined;
}

export type StoredEnrichment = { enricherId: string; value: string; fields: string; at: Date };

/** Returns the answers of enrichers about values that may still be used. One without fields says that nothing is known, or that the look-up failed. */
export const findEnrichments = (
  tx: Tx,
  orgId: OrgId,
  { ids, values, now }: { ids: string[]; values: readonly string[]; now: Date },
): Promise<StoredEnrichment[]> =>
  queryRows<StoredEnrichment>(tx)`
      select enricher_id as "enricherId", value, fields, at from enrichments
      where organization_id = ${orgId} and enricher_id = any(${ids}::uuid[]) and value = any(${values}::text[]) and until > ${now}`;

type NewEnrichment = { value: string; fields: EnrichmentFields; failure: string | null; at: Date; until: Date };

/** Stores an answer, and deletes some that have expired. */
export async function storeEnrichment(tx: Tx, { organization_id, id }: EnricherRow, one: NewEnrichment): Promise<void> {
  await sql`
    insert into enrichments (organization_id, enricher_id, value, fields, at, until)
    select organization_id, id, ${one.value}, ${JSON.stringify(one.fields)}, ${one.at}, ${one.until} from enrichers
      where organization_id = ${organization_id} and id = ${id}
    on conflict (organization_id, enricher_id, value) do update
      set fields = excluded.fields, at = excluded.at, until = excluded.until`.execute(tx);
  await sql`
    update enrichers set failure = ${one.failure} where organization_id = ${organization_id} and id = ${id} and failure is distinct
      from ${one.failure}`.execute(tx);
  await sql`
    delete from enrichments where ctid in (select ctid from enrichments
      where organization_id = ${organization_id} and until < ${one.at} limit 100)`.execute(tx);
}

/** Deletes the answers about a value, or with it. They are looked up again when they are needed. */
export async function eraseFromEnrichments(tx: Tx, orgId: OrgId, value: string): Promise<Record<string, never>> {
  await sql`
    delete from enrichments where organization_id = ${orgId}
      and (position(${value} in value) > 0 or position(${value} in fields) > 0)`.execute(tx);
  return {};
}
