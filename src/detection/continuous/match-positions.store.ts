import { sql, type RawBuilder } from 'kysely';
import { acrossOrgs, queryRow, queryRows, type Db, type Tx } from '../../platform/db/db.ts';
import { uuidv7 } from '../../platform/lib/ids.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { isNotSuspended } from '../../platform/orgs/orgs.store.ts';
import type { TimeRange } from '../scheduling/timeline.ts';

/** What reads events as they arrive: continuous detections or indicators of the feed. Each has its own position in a dataset. */
type MatchReader = 'detections' | 'indicators';

/** A dataset that a matcher holds. `worker` fences its writes. */
export type MatchClaim = { orgId: OrgId; dataset: string; reader: MatchReader; matchedTo: Date; worker: string };

const leaseMs = 120_000;
const leaseEnd = sql`clock_timestamp() + ${`${leaseMs} milliseconds`}::interval`;

/** Inserts the positions of datasets that a reader follows without a choice, from their first event on. */
export async function openPositionsAcrossOrgs(db: Db, reader: MatchReader): Promise<void> {
  await acrossOrgs(db, (tx) =>
    sql`
      insert into match_positions (organization_id, dataset, reader, matched_to)
      select d.organization_id, d.name, ${reader}::text, coalesce((select min(g.ingested_from) from segments g
        where g.organization_id = d.organization_id and g.dataset = d.name and not g.history), d.last_ingested_at)
      from datasets d where d.last_ingested_at is not null and not exists (select from match_positions p
        where p.organization_id = d.organization_id and p.dataset = d.name and p.reader = ${reader})
      on conflict do nothing`.execute(tx),
  );
}

/** Condition on `match_positions p` and `datasets d` that events wait to be matched. */
const hasEvents = sql`d.last_ingested_at >= p.matched_to`;

/**
 * Claims the dataset with waiting events of the organization that was served longest ago, with a lease. Returns undefined if no dataset without a
 * valid lease has any.
 */
export async function claimDatasetAcrossOrgs(db: Db, reader: MatchReader): Promise<MatchClaim | undefined> {
  return acrossOrgs(
    db,
    (tx) => queryRow<MatchClaim>(tx)`
      with next as (
        select p.organization_id, p.dataset from match_positions p
          join datasets d on d.organization_id = p.organization_id and d.name = p.dataset
        where p.reader = ${reader} and ${hasEvents} and (p.lease_until is null or p.lease_until < clock_timestamp()) and ${isNotSuspended(sql`p.organization_id`)}
        order by (select max(o.served_at) from match_positions o where o.organization_id = p.organization_id and o.reader = p.reader), p.served_at
        limit 1 for update of p skip locked
      )
      update match_positions p set lease_until = ${leaseEnd}, worker = ${uuidv7()},
        served_at = clock_timestamp()
      from next where p.organization_id = next.organization_id and p.dataset = next.dataset and p.reader = ${reader}
      returning p.organization_id as "orgId", p.dataset, p.reader, p.matched_to as "matchedTo", p.worker`,
  );
}

/** The matcher lost its lease. Nothing may be stored for it. */
export class MatchLostError extends Error {}

/** Moves the position of a claimed dataset and ends the claim, in the transaction that stores the matches. Throws `MatchLostError`. */
export async function advancePosition(tx: Tx, { orgId, dataset, reader, worker }: MatchClaim, to: Date): Promise<void> {
  const moved = await queryRow<{ one: number }>(tx)`
    update match_positions set matched_to = ${to}, lease_until = null, worker = null
    where organization_id = ${orgId} and dataset = ${dataset} and reader = ${reader} and worker = ${worker} returning 1 as one`;
  if (!moved) throw new MatchLostError(`Dataset ${dataset} is no longer held by this matcher.`);
}

/** Extends the lease of a claimed dataset. Throws `MatchLostError`. */
export async function renewDataset(tx: Tx, { orgId, dataset, reader, worker }: MatchClaim): Promise<void> {
  const renewed = await queryRow<{ one: number }>(tx)`
    update match_positions set lease_until = ${leaseEnd}
    where organization_id = ${orgId} and dataset = ${dataset} and reader = ${reader} and worker = ${worker} returning 1 as one`;
  if (!renewed) throw new MatchLostError(`Dataset ${dataset} is no longer held by this matcher.`);
}

/** Gives up a claim whose events were not matched. They are tried again after `retryMs`. */
export async function releaseDataset(
  tx: Tx,
  { orgId, dataset, reader, worker }: MatchClaim,
  retryMs: number,
): Promise<void> {
  await sql`update match_positions set worker = null, lease_until = clock_timestamp() + ${`${retryMs} milliseconds`}::interval
    where organization_id = ${orgId} and dataset = ${dataset} and reader = ${reader}
    and worker = ${worker}`.execute(tx);
}

const segmentsMax = 1000;

/**
 * Returns the window of the first events that wait, by arrival: of about `eventsMax` at most, in whole batches. Batches are published in the order
 * of their arrival, so nothing can appear before the end of one that is visible. `isEmpty`: only events loaded as history have arrived. `arrivedAt`:
 * arrival of the first event.
 */
export async function findNextWindow(
  tx: Tx,
  { orgId, dataset, matchedTo }: MatchClaim,
  eventsMax: number,
): Promise<TimeRange & { isEmpty: boolean; arrivedAt: Date }> {
  const found = await queryRow<{ to: Date | null; arrivedAt: Date | null; last: Date }>(tx)`
    select w.to_at as "to", w.from_at as "arrivedAt", last_ingested_at as last
    from datasets left join lateral (select max(to_at) as to_at, min(ingested_from) as from_at from (
      select ingested_from, max(ingested_to) over (order by ingested_from, id) as to_at, sum(rows) over (order by ingested_from, id) - rows as before
      from (select id, ingested_from, ingested_to, rows from segments where organization_id = ${orgId} and dataset = ${dataset} and not history
        and replaced_at is null and ingested_to >= ${matchedTo} order by ingested_from, id limit ${segmentsMax}) waiting
    ) s where before < ${eventsMax}) w on true
    where organization_id = ${orgId} and name = ${dataset}`;
  const to = new Date((found?.to ?? found?.last ?? matchedTo).getTime() + 1);
  return { from: matchedTo, to, isEmpty: !found?.to, arrivedAt: found?.arrivedAt ?? to };
}

/** How long events wait to be matched before they are late. */
const lateMs = 60_000;

/** Returns when the first of the events arrived that have waited too long for a matcher, of all organizations, or null if none have. */
export const findLateMatchingAcrossOrgs = (db: Db): Promise<Date | null> =>
  acrossOrgs(db, (tx) => findLateMatching(tx, isNotSuspended(sql`p.organization_id`)));

/** Returns the same for one organization. */
export const findLateMatchingOf = (tx: Tx, orgId: OrgId): Promise<Date | null> =>
  findLateMatching(tx, sql`p.organization_id = ${orgId}`);

async function findLateMatching(tx: Tx, isIncluded: RawBuilder<unknown>): Promise<Date | null> {
  const found = await queryRow<{ since: Date | null }>(tx)`
      select min(oldest.at) as since from match_positions p join datasets d on d.organization_id = p.organization_id and d.name = p.dataset
      cross join lateral (select min(g.ingested_from) as at from segments g where g.organization_id = p.organization_id
        and g.dataset = p.dataset and not g.history and g.replaced_at is null and g.ingested_to >= p.matched_to) oldest
      where ${hasEvents} and oldest.at < now() - ${`${lateMs} milliseconds`}::interval and ${isIncluded}`;
  return found?.since ?? null;
}

/** Lists organizations with windows that wait to be examined. */
export async function listWaitingOrgsAcrossOrgs(db: Db): Promise<OrgId[]> {
  const rows = await acrossOrgs(
    db,
    (tx) => queryRows<{ orgId: OrgId }>(tx)`select distinct organization_id as "orgId" from matched_windows limit 1000`,
  );
  return rows.map(({ orgId }) => orgId);
}
