import { sql } from 'kysely';
import { acrossOrgs, queryRows, type Db, type Tx } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { relevantIds } from '../items/list-query/relevant-items.store.ts';
import type { OrgState } from '../items/snapshot/org-state.store.ts';
import { visiblePoolIds, type Sql } from '../items/snapshot/query.sql.ts';
import { severities, type Severity, type Tlp } from '../model/vocabulary.ts';
import type { Week } from './digest.schema.ts';

/** A relevant item that was added in the week. `reasons` are JSON: the organization's own, or those of its score. */
export type WeekItemRow = {
  id: string;
  doc: string;
  severity: Severity;
  is_exploited: boolean;
  score: number;
  reasons: string;
  requirements: string[];
};

/** So many of each kind are read, before those of a stricter marking are left out. */
const rowsMax = 300;
const openEnd = '9223372036854775807';

const severityOf = sql<Severity>`coalesce(o.severity, i.severity)`;
const visibleItems = sql`items i left join feed_overrides o on o.organization_id = tocsin_org() and o.item_id = i.id`;
const isVisible = sql<boolean>`i.pool_id in ${visiblePoolIds}`;
const isAddedIn = ({ from, to }: Week): Sql => sql`i.added_to_feed_at >= ${from} and i.added_to_feed_at < ${to}`;

/** Returns the relevant items that were added in a week, the most relevant first. Empty if no profile is in force. */
export async function listWeekItems(tx: Tx, week: Week, state: OrgState): Promise<WeekItemRow[]> {
  const ids = relevantIds(state);
  if (!ids) return [];
  return queryRows<WeekItemRow>(tx)`
    select i.id, i.doc, ${severityOf} as severity, coalesce(r.score, 1) as score,
      coalesce(case when o.relevance = 'relevant' then o.relevance_reasons end, r.reasons, '[]') as reasons,
      coalesce(r.requirements, '{}') as requirements, coalesce(s.kind = 'kev' or i.severity_rule ~ '(exploited-now|floor:kev)', false) as is_exploited
    from ${visibleItems} left join feed_sources s on s.id = i.source_id
      left join feed_relevance r on r.organization_id = tocsin_org() and r.version = ${state.profileVersion ?? null} and r.item_id = i.id
        and r.seq_until = ${openEnd}
    where ${isVisible} and ${isAddedIn(week)} and i.id in (${ids}) and i.status <> 'retracted' and coalesce(o.status, i.status) <> 'retracted'
    order by 4 desc, array_position(${[...severities]}::text[], ${severityOf}) desc, i.added_to_feed_at desc, i.id limit ${rowsMax}`;
}

type ItemColumns = { id: string; title: string; publisher: string; severity: Severity; tlp: Tlp };

const itemColumns = sql`i.id, i.title, i.publisher, ${severityOf} as severity, i.doc::jsonb #>> '{source,tlp}' as tlp`;

export type ChangedItemRow = ItemColumns & {
  status: 'corrected' | 'retracted';
  at: Date;
  changed: string[];
  note: string | null;
};

/** Returns the items whose source or a person corrected or retracted them in a week, of those that are relevant or were seen in the logs. */
export function listChangedItems(tx: Tx, { from, to }: Week, state: OrgState): Promise<ChangedItemRow[]> {
  const ids = relevantIds(state);
  return queryRows<ChangedItemRow>(tx)`
    select ${itemColumns}, i.status, v.at, v.changed, v.note
    from ${visibleItems} cross join lateral (
      select v.at, v.changed, v.note from item_versions v
      where v.item_id = i.id and v.version > 1 and v.cause in ('source', 'person', 'vanished') and v.at >= ${from} and v.at < ${to}
      order by v.version desc limit 1) v
    where ${isVisible} and i.last_updated >= ${from} and i.status in ('corrected', 'retracted')
      and (${ids ? sql`i.id in (${ids})` : sql`false`} or exists (
        select from feed_sightings s where s.organization_id = tocsin_org() and s.item_id = i.id))
    order by v.at desc, i.id limit ${rowsMax}`;
}

export type SeenValueRow = ItemColumns & { type: string; value: string; datasets: string[]; events: number };

/** Returns the indicators that were first seen in the organization's logs in a week, with the events of that week. */
export function listSeenValues(tx: Tx, { from, to }: Week): Promise<SeenValueRow[]> {
  return queryRows<SeenValueRow>(tx)`
    select ${itemColumns}, seen.type, seen.value, seen.datasets, seen.events
    from (
      select item_id, type, value, array_agg(distinct dataset order by dataset) as datasets, count(*)::int as events, min(found_at) as first
      from feed_sightings where organization_id = tocsin_org() and found_at >= ${from} and found_at < ${to} group by item_id, type, value) seen
      join ${visibleItems} on i.id = seen.item_id
    where ${isVisible} and not exists (
      select from feed_sightings e where e.organization_id = tocsin_org() and md5(e.value) = md5(seen.value) and e.found_at < ${from}
        and e.item_id = seen.item_id and e.type = seen.type and e.value = seen.value)
    order by seen.first desc, seen.value limit ${rowsMax}`;
}

export type DigestRecipient = { organization_id: OrgId; profile: string };

/** Returns the organizations with a profile of which an enabled destination subscribes to digests. */
export function listRecipientsAcrossOrgs(db: Db): Promise<DigestRecipient[]> {
  return acrossOrgs(
    db,
    (tx) => queryRows<DigestRecipient>(tx)`
      select organization_id, profile from feed_profiles p where has_profile and exists (
        select from destinations d where d.organization_id = p.organization_id and d.enabled and 'feed.digest.ready' = any(d.event_types))`,
  );
}
