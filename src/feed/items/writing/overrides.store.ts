import { sql } from 'kysely';
import { queryRow, queryRows, type Tx } from '../../../platform/db/db.ts';
import type { Author } from '../../../platform/http/caller.ts';
import type { RelevanceReason } from '../../model/overrides.schema.ts';

// Every write of `feed_overrides`. The organization's private pool must be locked, and advanced afterwards.

/** An organization's override of an item, without the part that decides its group. `indicators` and `relevance_reasons` are JSON text. */
export type OverrideFields = {
  severity: string | null;
  status: string | null;
  note: string | null;
  tags: string[] | null;
  indicators: string | null;
  relevance: string | null;
  relevance_by: string | null;
  relevance_reasons: string | null;
  relevance_at: Date | null;
};

/** Returns the override of an item, with null in every field if there is none. */
export async function readOverrideFields(tx: Tx, orgId: string, itemId: string): Promise<OverrideFields> {
  const query = sql<OverrideFields>`
    select o.severity, o.status, o.note, o.tags, o.indicators, o.relevance, o.relevance_by, o.relevance_reasons, o.relevance_at
    from (select) one left join feed_overrides o on o.organization_id = ${orgId} and o.item_id = ${itemId}`;
  return (await queryRow(tx, query))!;
}

export async function upsertOverrideFields(
  tx: Tx,
  override: { itemId: string; fields: OverrideFields; at: Date; author: Author },
): Promise<void> {
  const { itemId, fields, at, author } = override;
  await sql`
    insert into feed_overrides (organization_id, item_id, severity, status, note, tags, indicators, relevance, relevance_by, relevance_reasons,
      relevance_at, updated_at, updated_by, actor)
    values (${author.orgId}, ${itemId}, ${fields.severity}, ${fields.status}, ${fields.note}, ${fields.tags}, ${fields.indicators}, ${fields.relevance},
      ${fields.relevance_by}, ${fields.relevance_reasons}, ${fields.relevance_at}, ${at}, ${author.keyId}, ${author.subject ?? null})
    on conflict (organization_id, item_id) do update set severity = excluded.severity, status = excluded.status, note = excluded.note,
      tags = excluded.tags, indicators = excluded.indicators, relevance = excluded.relevance, relevance_by = excluded.relevance_by,
      relevance_reasons = excluded.relevance_reasons, relevance_at = excluded.relevance_at, updated_at = excluded.updated_at,
      updated_by = excluded.updated_by, actor = excluded.actor`.execute(tx);
}

/** The part of an override that decides the item's group for the organization. */
export type GroupFields = {
  status: string | null;
  note: string | null;
  standsApart: boolean;
  mergedInto: string | null;
};

export async function upsertGroupOverride(
  tx: Tx,
  override: GroupFields & { itemId: string; at: Date; author: Author },
): Promise<void> {
  const { itemId, status, note, standsApart, mergedInto, at, author } = override;
  await sql`
    insert into feed_overrides (organization_id, item_id, status, note, stands_apart, merged_into, updated_at, updated_by, actor)
    values (${author.orgId}, ${itemId}, ${status}, ${note}, ${standsApart}, ${mergedInto}, ${at}, ${author.keyId},
      ${author.subject ?? null})
    on conflict (organization_id, item_id) do update set status = excluded.status, note = excluded.note,
      stands_apart = excluded.stands_apart, merged_into = excluded.merged_into, updated_at = excluded.updated_at, updated_by = excluded.updated_by,
      actor = excluded.actor`.execute(tx);
}

/** Replaces the list of items whose root differs for the organization. A null root makes the item a root itself. */
export async function replaceRootOverrides(
  tx: Tx,
  orgId: string,
  moves: { id: string; root: string | null }[],
  at: Date,
): Promise<void> {
  const [ids, roots] = [moves.map(({ id }) => id), moves.map(({ root }) => root)];
  await sql`
    update feed_overrides set moved = false, duplicate_of = null, updated_at = ${at}
      where organization_id = ${orgId} and moved and item_id <> all(${ids}::uuid[])`.execute(tx);
  await sql`
    insert into feed_overrides (organization_id, item_id, moved, duplicate_of, updated_at)
    select ${orgId}, n.id, true, n.root, ${at} from unnest(${ids}::uuid[], ${roots}::uuid[]) as n (id, root)
    on conflict (organization_id, item_id) do update set moved = true, duplicate_of = excluded.duplicate_of, updated_at = excluded.updated_at
    where not feed_overrides.moved or feed_overrides.duplicate_of is distinct from excluded.duplicate_of`.execute(tx);
}

const modelName = 'threat-relevancy';

/** Writes a model's verdict. Returns false if a person's verdict or a sighting already exists; it takes precedence. */
export async function insertModelVerdict(
  tx: Tx,
  verdict: {
    orgId: string;
    itemId: string;
    verdict: 'relevant' | 'irrelevant';
    reasons: RelevanceReason[];
    at: Date;
  },
): Promise<boolean> {
  const { orgId, itemId, at } = verdict;
  const written = await queryRow(tx)`
      insert into feed_overrides as o (organization_id, item_id, relevance, relevance_by, relevance_reasons, relevance_at, updated_at)
      values (${orgId}, ${itemId}, ${verdict.verdict}, ${modelName}, ${JSON.stringify(verdict.reasons)}, ${at}, ${at})
      on conflict (organization_id, item_id) do update set relevance = excluded.relevance, relevance_by = excluded.relevance_by,
        relevance_reasons = excluded.relevance_reasons, relevance_at = excluded.relevance_at, updated_at = excluded.updated_at
        where o.relevance is null and o.exposed_at is null
      returning 1`;
  return written !== undefined;
}

const clearedMax = 1_000;

/** Clears up to 1,000 verdicts that a model gave for another version of the item or of the profile. Returns the items. */
export async function clearOutdatedModelVerdicts(
  tx: Tx,
  orgId: string,
  profileVersion: number,
  at: Date,
): Promise<string[]> {
  const cleared = await queryRows<{ item_id: string }>(tx)`
      update feed_overrides set relevance = null, relevance_by = null, relevance_reasons = null, relevance_at = null, updated_at = ${at}
      where organization_id = ${orgId} and item_id in (
        select o.item_id from feed_overrides o join items i on i.id = o.item_id
        where o.organization_id = ${orgId} and o.relevance_by = ${modelName} and not exists (
          select from feed_judgements j where j.organization_id = o.organization_id and j.item_id = i.id and j.item_version = i.version
            and j.profile_version = ${profileVersion})
        limit ${clearedMax})
      returning item_id`;
  return cleared.map(({ item_id }) => item_id);
}

const isByModel = sql`coalesce(feed_overrides.relevance_by = ${sql.lit(modelName)}, false)`;

/** Removes the mark of items that were seen in the organization's logs. A person's verdict stays. */
export async function clearExposed(tx: Tx, orgId: string, itemIds: string[], at: Date): Promise<void> {
  await sql`
    update feed_overrides set exposed_at = null, updated_at = ${at},
      relevance_reasons = case when relevance is null then null else relevance_reasons end
    where organization_id = ${orgId} and item_id = any(${itemIds}::uuid[]) and exposed_at is not null`.execute(tx);
}

/**
 * Marks items as seen in the organization's logs. Returns those that were not marked before. Removes a model's verdict on them; a person's
 * verdict stays.
 */
export async function markExposed(
  tx: Tx,
  orgId: string,
  items: { id: string; reasons: RelevanceReason[] }[],
  at: Date,
): Promise<string[]> {
  const marked = await queryRows<{ item_id: string }>(tx)`
      insert into feed_overrides (organization_id, item_id, exposed_at, relevance_reasons, updated_at)
      select ${orgId}::uuid, n.id, ${at}::timestamptz, n.reasons, ${at}::timestamptz
      from unnest(${items.map(({ id }) => id)}::uuid[], ${items.map(({ reasons }) => JSON.stringify(reasons))}::text[]) as n (id, reasons)
      on conflict (organization_id, item_id) do update set exposed_at = excluded.exposed_at, updated_at = excluded.updated_at,
        relevance = case when ${isByModel} then null else feed_overrides.relevance end,
        relevance_by = case when ${isByModel} then null else feed_overrides.relevance_by end,
        relevance_at = case when ${isByModel} then null else feed_overrides.relevance_at end,
        relevance_reasons = case when ${isByModel} then excluded.relevance_reasons
          else coalesce(feed_overrides.relevance_reasons, excluded.relevance_reasons) end
        where feed_overrides.exposed_at is null returning item_id`;
  return marked.map(({ item_id }) => item_id);
}
