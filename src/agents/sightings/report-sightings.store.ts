import { sql } from 'kysely';
import { acrossOrgs, queryRows, type Db, type Tx } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { isNotSuspended } from '../../platform/orgs/orgs.store.ts';
import { sourceFormats, sourceKinds, type SourceKind } from '../../feed/formats/registry.ts';
import type { SightingStatus } from '../../feed/formats/send-sightings.ts';
import type { Tlp } from '../../feed/model/vocabulary.ts';
import type { SourceSightings } from '../../feed/sources/sources.schema.ts';

/** A source of one organization that accepts sightings. */
export type ReportingSource = {
  organization_id: OrgId;
  id: string;
  kind: SourceKind;
  sealed_auth: Buffer | null;
  sightings: SourceSightings;
};

export type ReportedSighting = {
  id: string;
  status: SightingStatus;
  value: string;
  recordId: string;
  at: Date;
  tlp: Tlp;
  reference: string | null;
  tries: number;
};

const listKinds = (status: SightingStatus): SourceKind[] =>
  sourceKinds.filter((kind) => sourceFormats[kind].sightings?.statuses.includes(status));

const isReporting = sql`s.sightings is not null and s.visibility = 'private' and s.enabled and s.deleted_at is null
  and ${isNotSuspended(sql`s.organization_id`)}`;
const queuedMax = 10_000;

/**
 * Queues what sources have not been sent: values of their items that were seen as they are, or inside of a network, and values that people of the organization call false
 * positives, each once. What was withheld is queued again after its source changed.
 */
export async function queueSightingsAcrossOrgs(db: Db): Promise<void> {
  await acrossOrgs(db, async (tx) => {
    // One look-up in the index for each value, whatever the planner estimates: a feed has many more items than are sighted.
    await sql`
      insert into feed_sent_sightings (organization_id, source_id, item_id, value, status, id, at)
      select s.organization_id, s.id, n.item_id, n.value, n.status, gen_random_uuid(), n.at from (
        select f.organization_id, f.item_id, f.value, 'seen' as status, min(f.found_at) as at from feed_sightings f
        where f.match in ('exact', 'network') group by f.organization_id, f.item_id, f.value
        union all
        select o.organization_id, o.item_id, w.own ->> 'value', 'false_positive', min(o.updated_at)
        from feed_overrides o cross join lateral json_array_elements(o.indicators::json) w (own)
        where w.own ->> 'status' = 'false_positive' group by o.organization_id, o.item_id, w.own ->> 'value'
      ) n cross join lateral (select source_id from items where id = n.item_id limit 1) i
        join feed_sources s on s.organization_id = n.organization_id and s.id = i.source_id
      where ${isReporting}
        and s.kind = any(case n.status when 'seen' then ${listKinds('seen')}::text[] else ${listKinds('false_positive')}::text[] end)
        and not exists (select from feed_sent_sightings r where r.organization_id = n.organization_id and r.source_id = s.id
          and r.item_id = n.item_id and r.value = n.value and r.status = n.status)
      limit ${queuedMax} on conflict do nothing`.execute(tx);
    await sql`
      update feed_sent_sightings r set state = 'waiting', due_at = clock_timestamp(), tries = 0 from feed_sources s
      where r.state = 'withheld' and s.organization_id = r.organization_id and s.id = r.source_id
      and s.updated_at > r.changed_at`.execute(tx);
  });
}

/** Returns sources to which something is due, at most one of each organization. */
export function claimReportingSourcesAcrossOrgs(db: Db, limit: number): Promise<ReportingSource[]> {
  return acrossOrgs(
    db,
    (tx) =>
      queryRows<ReportingSource>(tx)`
        select organization_id, id, kind, sealed_auth, sightings from (
          select distinct on (s.organization_id) s.organization_id, s.id, s.kind, s.sealed_auth, s.sightings::json as sightings, r.due_at
          from feed_sent_sightings r join feed_sources s on s.organization_id = r.organization_id and s.id = r.source_id
          where r.state in ('waiting', 'posted') and r.due_at <= clock_timestamp() and ${isReporting}
          order by s.organization_id, r.due_at
        ) due order by due_at limit ${limit}`,
  );
}

const leaseMs = 300_000;

/** Claims sightings of a source that are due until the lease ends. */
export function claimSightings(
  tx: Tx,
  { organization_id: orgId, id }: ReportingSource,
  limit: number,
): Promise<ReportedSighting[]> {
  return queryRows<ReportedSighting>(tx)`
    with due as (
      select id from feed_sent_sightings where organization_id = ${orgId} and source_id = ${id} and state in ('waiting', 'posted')
        and due_at <= clock_timestamp() order by due_at limit ${limit} for update skip locked
    )
    update feed_sent_sightings r set tries = r.tries + 1, due_at = clock_timestamp() + ${`${leaseMs} milliseconds`}::interval
    from due, items i where r.organization_id = ${orgId} and r.id = due.id and i.id = r.item_id
    returning r.id, r.status, r.value, i.record_id as "recordId", r.at, i.doc::json -> 'source' ->> 'tlp' as tlp, r.reference, r.tries`;
}

/** `pauseMs` is null if nothing more is sent. */
export type SightingOutcome = Pick<ReportedSighting, 'id' | 'reference' | 'tries'> & {
  state: 'waiting' | 'posted' | 'sent' | 'refused' | 'withheld';
  error: string | null;
  pauseMs: number | null;
};

/** Stores what became of claimed sightings. */
export async function finishSightings(
  tx: Tx,
  { organization_id: orgId, id }: ReportingSource,
  outcomes: readonly SightingOutcome[],
): Promise<void> {
  const column = <T>(pick: (outcome: SightingOutcome) => T): T[] => outcomes.map(pick);
  await sql`
    update feed_sent_sightings r set state = o.state, reference = o.reference, error = o.error, changed_at = clock_timestamp(),
      due_at = clock_timestamp() + coalesce(o.pause_ms, 0) * interval '1 millisecond'
    from unnest(${column((one) => one.id)}::uuid[], ${column((one) => one.tries)}::int[], ${column(({ state }) => state)}::text[],
      ${column(({ reference }) => reference)}::text[], ${column(({ error }) => error)}::text[], ${column(({ pauseMs }) => pauseMs)}::bigint[])
      as o (id, tries, state, reference, error, pause_ms)
    where r.organization_id = ${orgId} and r.source_id = ${id} and r.id = o.id and r.tries = o.tries`.execute(tx);
}
