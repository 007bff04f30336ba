import { sql } from 'kysely';
import { queryRow, queryRows, type Tx } from '../../platform/db/db.ts';
import type { RelevanceReason } from '../../feed/model/overrides.schema.ts';
import { isPoolVisible } from '../../feed/items/snapshot/query.sql.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';

const openEnd = '9223372036854775807';

/** `version` is the profile's current version, `builtVersion` the version that the stored scores belong to. */
export type OpenItemsQuery = { orgId: OrgId; version: number; builtVersion: number; since: Date };
export type OpenItem = { doc: string; wasJudgedBefore: boolean };

/** Selects visible items without an override of relevance, a sighting, or a judgment of their current version under the current profile. */
const isOpen = ({ orgId, version, since }: OpenItemsQuery) => sql`
  i.pool_id in (select id from feed_pools where ${isPoolVisible}) and i.added_to_feed_at > ${since} and i.status <> 'retracted'
  and not exists (select from feed_overrides o where o.organization_id = ${orgId} and o.item_id = i.id
    and (o.exposed_at is not null or o.relevance is not null or o.status = 'retracted'))
  and not exists (select from feed_judgements j where j.organization_id = ${orgId} and j.item_id = i.id and j.item_version = i.version
    and j.profile_version = ${version})`;
const wasJudgedBefore = ({ orgId }: OpenItemsQuery) =>
  sql`exists (select from feed_judgements j where j.organization_id = ${orgId} and j.item_id = i.id) as "wasJudgedBefore"`;

/** Returns the newest open items that the rules score as relevant. `wasJudgedBefore` also counts other versions of the item or the profile. */
export function listOpenRelevantItems(tx: Tx, open: OpenItemsQuery, limit: number): Promise<OpenItem[]> {
  return queryRows<OpenItem>(tx)`
      select i.doc, ${wasJudgedBefore(open)} from feed_relevance r join items i on i.id = r.item_id
      where r.organization_id = ${open.orgId} and r.version = ${open.builtVersion} and r.seq_until = ${openEnd} and ${isOpen(open)}
      order by r.added_to_feed_at desc, r.item_id desc limit ${limit}`;
}

/** Returns the newest open items, whatever their score. */
export function listOpenItems(tx: Tx, open: OpenItemsQuery, limit: number): Promise<OpenItem[]> {
  return queryRows<OpenItem>(tx)`
      select i.doc, ${wasJudgedBefore(open)} from items i where ${isOpen(open)}
      order by i.added_to_feed_at desc, i.id desc limit ${limit}`;
}

export type RelevanceJudgment = { orgId: OrgId; itemId: string; itemVersion: number; profileVersion: number; at: Date };

/** Records that an item was judged. Returns false and does nothing if the item or the profile changed in the meantime. */
export async function saveJudgmentRow(tx: Tx, judgment: RelevanceJudgment): Promise<boolean> {
  const { orgId, itemId, itemVersion, profileVersion, at } = judgment;
  const saved = await queryRow(tx)`
      insert into feed_judgements as j (organization_id, item_id, item_version, profile_version, judged_at)
      select p.organization_id, i.id, i.version, p.version, ${at} from items i, feed_profiles p
      where i.id = ${itemId} and i.version = ${itemVersion} and i.pool_id in (select id from feed_pools where ${isPoolVisible})
        and p.organization_id = ${orgId} and p.version = ${profileVersion}
      on conflict (organization_id, item_id) do update set item_version = excluded.item_version, profile_version = excluded.profile_version,
        judged_at = excluded.judged_at
      returning 1`;
  return saved !== undefined;
}

export type RelevanceVerdict = { verdict: 'relevant' | 'irrelevant'; reasons: RelevanceReason[] };
