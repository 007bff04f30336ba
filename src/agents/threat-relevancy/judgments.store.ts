import { sql } from 'kysely';
import { row, rows, type Tx } from '../../platform/db/db.ts';
import type { RelevanceReason } from '../../feed/model/overrides.schema.ts';
import { isVisible } from '../../feed/items/items.store.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';

const byModel = 'threat-relevancy';
const openEnd = '9223372036854775807';

/** `version`: of the profile; `builtVersion`: of the one that stored scores answer for. */
export type Open = { orgId: OrgId; version: number; builtVersion: number; since: Date };
export type OpenItem = { doc: string; isKnown: boolean };

/** Of what the organization sees and neither a person nor its logs spoke of: not judged in this version under this version of the profile. */
const isOpen = ({ orgId, version, since }: Open) => sql`
  i.pool_id in (select id from feed_pools where ${isVisible}) and i.added_to_feed_at > ${since} and i.status <> 'retracted'
  and not exists (select from feed_overrides o where o.organization_id = ${orgId} and o.item_id = i.id
    and (o.exposed_at is not null or o.relevance is not null or o.status = 'retracted'))
  and not exists (select from feed_judgements j where j.organization_id = ${orgId} and j.item_id = i.id and j.item_version = i.version
    and j.profile_version = ${version})`;
const isKnown = ({ orgId }: Open) =>
  sql`exists (select from feed_judgements j where j.organization_id = ${orgId} and j.item_id = i.id) as "isKnown"`;

/** The newest that the rules call relevant. `isKnown`: an earlier version of it, or of the profile, was judged. */
export function listOpenRelevant(tx: Tx, open: Open, limit: number): Promise<OpenItem[]> {
  return rows(
    tx,
    sql<OpenItem>`
      select i.doc, ${isKnown(open)} from feed_relevance r join items i on i.id = r.item_id
      where r.organization_id = ${open.orgId} and r.version = ${open.builtVersion} and r.seq_until = ${openEnd} and ${isOpen(open)}
      order by r.added_to_feed_at desc, r.item_id desc limit ${limit}`,
  );
}

/** The newest of all. */
export function listOpenNewest(tx: Tx, open: Open, limit: number): Promise<OpenItem[]> {
  return rows(
    tx,
    sql<OpenItem>`
      select i.doc, ${isKnown(open)} from items i where ${isOpen(open)}
      order by i.added_to_feed_at desc, i.id desc limit ${limit}`,
  );
}

export type Judgement = { orgId: OrgId; itemId: string; itemVersion: number; profileVersion: number; at: Date };

/** Keeps that an item was judged. False where item or profile are others by now: the judgement is of neither. */
export async function keepJudgement(tx: Tx, judgement: Judgement): Promise<boolean> {
  const { orgId, itemId, itemVersion, profileVersion, at } = judgement;
  const kept = await row(
    tx,
    sql`
      insert into feed_judgements as j (organization_id, item_id, item_version, profile_version, judged_at)
      select p.organization_id, i.id, i.version, p.version, ${at} from items i, feed_profiles p
      where i.id = ${itemId} and i.version = ${itemVersion} and i.pool_id in (select id from feed_pools where ${isVisible})
        and p.organization_id = ${orgId} and p.version = ${profileVersion}
      on conflict (organization_id, item_id) do update set item_version = excluded.item_version, profile_version = excluded.profile_version,
        judged_at = excluded.judged_at
      returning 1`,
  );
  return kept !== undefined;
}

export type Word = { verdict: 'relevant' | 'irrelevant'; reasons: RelevanceReason[] };

/** Writes the model's word. False where a person's or the logs' stands. The organization's pool must be held, and moved afterwards. */
export async function writeWord(
  tx: Tx,
  { orgId, itemId, at }: Pick<Judgement, 'orgId' | 'itemId' | 'at'>,
  { verdict, reasons }: Word,
): Promise<boolean> {
  const written = await row(
    tx,
    sql`
      insert into feed_overrides as o (organization_id, item_id, relevance, relevance_by, relevance_reasons, relevance_at, updated_at)
      values (${orgId}, ${itemId}, ${verdict}, ${byModel}, ${JSON.stringify(reasons)}, ${at}, ${at})
      on conflict (organization_id, item_id) do update set relevance = excluded.relevance, relevance_by = excluded.relevance_by,
        relevance_reasons = excluded.relevance_reasons, relevance_at = excluded.relevance_at, updated_at = excluded.updated_at
        where o.relevance is null and o.exposed_at is null
      returning 1`,
  );
  return written !== undefined;
}

const takenMax = 1_000;

/** Takes back what the model said of another version of an item or of the profile; answers the items. The pool as above. */
export async function takeBackWords(tx: Tx, orgId: OrgId, version: number, at: Date): Promise<string[]> {
  const taken = await rows(
    tx,
    sql<{ item_id: string }>`
      update feed_overrides set relevance = null, relevance_by = null, relevance_reasons = null, relevance_at = null, updated_at = ${at}
      where organization_id = ${orgId} and item_id in (
        select o.item_id from feed_overrides o join items i on i.id = o.item_id
        where o.organization_id = ${orgId} and o.relevance_by = ${byModel} and not exists (
          select from feed_judgements j where j.organization_id = o.organization_id and j.item_id = i.id and j.item_version = i.version
            and j.profile_version = ${version})
        limit ${takenMax})
      returning item_id`,
  );
  return taken.map(({ item_id }) => item_id);
}
