import { sql, type RawBuilder } from 'kysely';
import { acrossOrgsPipelined, type Db } from '../../platform/db/db.ts';
import { uuidv7 } from '../../platform/lib/ids.ts';
import { isNotSuspended } from '../../platform/orgs/orgs.store.ts';
import { claimColumns, leaseEnd, responseKinds, type RunClaim, type RunPhase } from './run-claim.ts';

/** One of the two queues of runs: what its claims look at besides lanes, states and times. */
type Queue = {
  phase: RunPhase;
  /** A statement to send before the claim, in its transaction. */
  lock: RawBuilder<unknown> | null;
  /** CTEs that the conditions read. */
  ctes: RawBuilder<unknown>;
  /** Expression for the free places of lane `l`, of which `busy.n` are taken. */
  freePlaces: RawBuilder<unknown>;
  /** Condition on a due run `q` that nothing else keeps it waiting. */
  isFree: RawBuilder<unknown>;
  /** Condition on `q` and `ranked_runs`: the runs ranked before this one leave it a place. */
  isWithinPlaces: RawBuilder<unknown>;
};

/** `batchMax`: the largest batch. 0: every run takes a place of its own. */
type ClaimScope = { now: Date; limit: number; batchMax: number; queue: Queue };

/** The runs of one place. `isBatch`: they are examined together. Otherwise there is one. */
export type ClaimedPlace = { isBatch: boolean; claims: RunClaim[] };

/**
 * Returns the phases of the runs that are due, whether they can be claimed or not. Workers that find none need not claim: they look twice a second,
 * and a claim takes ten times as long.
 */
export async function listDuePhasesAcrossOrgs(db: Db, now: Date): Promise<RunPhase[]> {
  const due = sql`
    select due.phase from (values ('examine'), ('judge')) as queues (phase) cross join lateral (
      select q.phase from run_queue q where q.state = 'queued' and q.phase = queues.phase and q.start_at <= ${now} limit 1) due`;
  return (await acrossOrgsPipelined<{ phase: RunPhase }>(db, [due])).map(({ phase }) => phase);
}

/**
 * Claims runs of one lane that may be examined at slot time `now`, in order of their slots. Such a run is queued, is due, and its connection and its
 * detection are free. Of several runs of one detection only the oldest is claimed. If the first run is a slot on the embedded log store that
 * nobody has begun, returns up to `batchMax` such runs as a batch, which takes one place. Otherwise returns up to `limit` places of one run each. A run
 * that was lost or failed is thus alone from then on, so that it cannot take others with it again.
 */
export async function claimPlacesAcrossOrgs(
  db: Db,
  now: Date,
  { limit, batchMax }: { limit: number; batchMax: number },
): Promise<ClaimedPlace[]> {
  const claims = await claimAcrossOrgs(db, { now, limit, batchMax, queue: examineQueue });
  if (claims[0]?.isBatch) return [{ isBatch: true, claims: claims.map(toClaim) }];
  return claims.map((claim) => ({ isBatch: false, claims: [toClaim(claim)] }));
}

function toClaim(row: ClaimRow): RunClaim {
  const { isBatch: _, ...claim } = row;
  return claim;
}

/** Like `claimPlacesAcrossOrgs`, without batches. */
export const claimRunsAcrossOrgs = async (db: Db, now: Date, limit: number): Promise<RunClaim[]> =>
  (await claimPlacesAcrossOrgs(db, now, { limit, batchMax: 0 })).flatMap(({ claims }) => claims);

/**
 * Maximum number of runs that are judged concurrently by model alias, across all processes. A run takes a place of its alias, and one of the alias in
 * `escalateTo`.
 */
export type ConcurrencyLimits = Readonly<Record<string, number | { places: number; escalateTo: string }>>;

/** Returns the places of an alias. */
export const placesOf = (limit: ConcurrencyLimits[string]): number =>
  typeof limit === 'number' ? limit : limit.places;

/**
 * Claims up to `limit` runs of one organization, kind and model alias that wait to be judged, in order of their slots. The alias has a free place, and no
 * earlier run of the detection waits or is being judged. Those of a response agent do not wait for each other. An alias that is not in `limits` has no limit: its runs end without a call.
 */
export const claimJudgingAcrossOrgs = async (
  db: Db,
  now: Date,
  limit: number,
  limits: ConcurrencyLimits,
): Promise<RunClaim[]> =>
  (await claimAcrossOrgs(db, { now, limit, batchMax: 0, queue: createJudgeQueue(limits) })).map(toClaim);

type ClaimRow = RunClaim & { isBatch: boolean };

/**
 * Lanes are served in turn: of those with a free place and a claimable run, the one served longest ago is next. The statement is a chain of CTEs,
 * one function each. Its commit does not wait for the disk: a claim that a crash of the database server loses is refused at its first fenced write.
 */
async function claimAcrossOrgs(db: Db, scope: ClaimScope): Promise<ClaimRow[]> {
  const { ctes, lock, isWithinPlaces } = scope.queue;
  const steps = [ctes, dueStartsCte(scope), freeLanesCte(scope), claimedLaneCte, servedLaneCte];
  const claim = sql<ClaimRow>`with recursive ${sql.join([...steps, rankedRunsCte(scope)])} ${updateClaimedRuns(isWithinPlaces)}`;
  try {
    const claims = await acrossOrgsPipelined<ClaimRow>(db, lock ? [lock, claim] : [claim]);
    return claims.toSorted((a, b) => a.dueAt.getTime() - b.dueAt.getTime());
  } catch (error) {
    // A concurrent claimer started a run of the same detection. The next pass sees it.
    const isUniqueViolation = (error as { code?: string }).code === '23505';
    if (isUniqueViolation) return [];
    throw error;
  }
}

/**
 * With fewer starts that are due, a claim reads only their lanes, and otherwise all lanes in order. Of few lanes, it soon meets four that it can
 * serve, or has passed all of them.
 */
const dueStartsMax = { ofFewLanes: 12, ofManyLanes: 100 };
const fewLanes = 128;

/**
 * The first starts that are due: their times, each with the lanes that have queued runs of it. Steps from one to the next through the index, and
 * so passes neither the other runs of a lane, nor the runs of all the organizations that start later.
 */
const dueStartsCte = ({ now, queue: { phase } }: ClaimScope): RawBuilder<unknown> => sql`
  next_start as (
    (select start_at, organization_id, kind, model_alias from run_queue where state = 'queued' and phase = ${sql.lit(phase)} and start_at <= ${now}
      order by start_at, organization_id, kind, model_alias limit 1)
    union all
    select n.* from next_start cross join lateral (
      select q.start_at, q.organization_id, q.kind, q.model_alias from run_queue q
      where q.state = 'queued' and q.phase = ${sql.lit(phase)} and q.start_at <= ${now}
        and (q.start_at, q.organization_id, q.kind, q.model_alias)
          > (next_start.start_at, next_start.organization_id, next_start.kind, next_start.model_alias)
      order by q.start_at, q.organization_id, q.kind, q.model_alias limit 1) n
  ), starts_max as materialized (
    select case when (select count(*) from (select from lanes l where ${hasLane(phase)} limit ${fewLanes + 1}) n) > ${fewLanes} then ${dueStartsMax.ofManyLanes}::int else ${dueStartsMax.ofFewLanes}::int end as n
  ), due_starts as materialized (select * from next_start limit (select n from starts_max)),
  due_lanes as materialized (select distinct organization_id, kind, model_alias from due_starts)`;

/**
 * Step 1: up to four lanes that have a free place and a claimable run, the one served longest ago first. Locks nothing. Only one of the two selects
 * is executed: the first for few due starts, the second for many, among which it soon finds four lanes.
 */
const freeLanesCte = (scope: ClaimScope): RawBuilder<unknown> => sql`
  free_lanes as materialized (
    (${selectFreeLanes(scope, sql`due_lanes join lanes l using (organization_id, kind, model_alias)`, sql`(select count(*) from due_starts) < (select n from starts_max)`)})
    union all
    (${selectFreeLanes(scope, sql`lanes l`, sql`(select count(*) from due_starts) = (select n from starts_max)`)})
  )`;

const selectFreeLanes = (scope: ClaimScope, lanes: RawBuilder<unknown>, condition: RawBuilder<unknown>) => sql`
    select l.organization_id, l.kind, l.model_alias, l.served_at, ${scope.queue.freePlaces} as places, waiting.batchable,
      set_config('synchronous_commit', 'off', true)
    from ${lanes} cross join lateral (
      select count(distinct r.worker) as n from run_queue r
      where r.organization_id = l.organization_id and r.kind = l.kind and r.model_alias = l.model_alias and r.state = 'running'
    ) busy cross join lateral (
      select ${isBatchable(scope)} as batchable from run_queue q
      where q.organization_id = l.organization_id and q.kind = l.kind and q.model_alias = l.model_alias and ${isClaimable(scope)}
      order by q.start_at, q.run_id limit 1
    ) waiting
    where ${condition} and ${hasLane(scope.queue.phase)} and ${scope.queue.freePlaces} > 0 and ${isNotSuspended(sql`l.organization_id`)}
    order by l.served_at limit 4`;

/**
 * Step 2: locks the first of these lanes that no other claimer has locked. A lane whose `served_at` has changed is dropped: its
 * free places were counted before another claimer took some. So a lane never exceeds its cap.
 */
const claimedLaneCte = sql`
  claimed_lane as materialized (
    select l.organization_id, l.kind, l.model_alias, free_lanes.places, free_lanes.batchable from free_lanes join lanes l using (organization_id, kind, model_alias)
    where l.served_at = free_lanes.served_at order by free_lanes.served_at limit 1 for update of l skip locked
  )`;

/** Condition on `lanes l` that a lane is of the queue. */
const hasLane = (phase: RunPhase) => (phase === 'judge' ? sql`l.judges` : sql`not l.judges`);

/** Step 3: moves the lane to the end of the order. */
const servedLaneCte = sql`
  served_lane as (
    update lanes l set served_at = clock_timestamp() from claimed_lane
    where l.organization_id = claimed_lane.organization_id and l.kind = claimed_lane.kind and l.model_alias = claimed_lane.model_alias
  )`;

/** Step 4: locks the oldest claimable runs of the lane and ranks them by detection and connection. */
const rankedRunsCte = (scope: ClaimScope): RawBuilder<unknown> => sql`
  ranked_runs as materialized (
    select run.run_id, run.resumed, claimed_lane.batchable as is_batch,
      row_number() over (partition by run.detection_id order by run.start_at, run.run_id) as nth_of_detection,
      row_number() over (partition by run.connection_id order by run.start_at, run.run_id) as nth_of_connection
    from claimed_lane cross join lateral (
      select q.run_id, q.detection_id, q.begun as resumed, q.start_at, q.connection_id, ${isBatchable(scope)} as batchable from run_queue q
      where q.organization_id = claimed_lane.organization_id and q.kind = claimed_lane.kind and q.model_alias = claimed_lane.model_alias and ${isClaimable(scope)}
      order by q.start_at, q.run_id
      limit case when claimed_lane.batchable then ${scope.batchMax}::int else least(claimed_lane.places, ${scope.limit}) end for update skip locked
    ) run where run.batchable or not claimed_lane.batchable
  )`;

/** Step 5: claims the oldest run of each detection, as far as the places suffice. The runs of a batch share the id of the claim, and so count once. */
const updateClaimedRuns = (isWithinPlaces: RawBuilder<unknown>): RawBuilder<unknown> => sql`
  update run_queue q set state = 'running', begun = true, attempt = q.attempt + 1, retry_at = null, lease_until = ${leaseEnd},
    worker = case when ranked_runs.is_batch then ${uuidv7()} else gen_random_uuid()::text end
  from ranked_runs where q.run_id = ranked_runs.run_id and ranked_runs.nth_of_detection = 1 and ${isWithinPlaces}
  returning ${claimColumns}, ranked_runs.resumed, ranked_runs.is_batch as "isBatch"`;

/** Expression for whether run `q` can be in a batch. */
const isBatchable = ({ batchMax }: ClaimScope): RawBuilder<unknown> =>
  batchMax === 0 ? sql`false` : sql`(q.kind = 'schedule' and q.connection_id is null and not q.begun)`;

/**
 * Condition on `run_queue q` that a run can be claimed. The form makes the planner read a lane through its index, only as far
 * as needed: it underestimates a plain `is null` or `not exists` and would sort the whole lane instead.
 */
const isClaimable = ({ now, queue }: ClaimScope): RawBuilder<unknown> =>
  sql`q.state = 'queued' and q.start_at <= ${now} and (q.retry_at is null or q.retry_at <= clock_timestamp()) and ${queue.isFree}`;

/** Condition on `run_queue q` that no run of its detection and kind meets `condition` on `o` in its phase. */
const hasNoOther = (phase: RunPhase, condition: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`coalesce((select false from run_queue o where o.organization_id = q.organization_id and o.detection_id = q.detection_id
    and o.kind = q.kind and o.phase = ${sql.lit(phase)} and ${condition} limit 1), true)`;

/**
 * Of three or more places, one remains for others, so that nobody's slow runs have them all: of a lane that all runs of one connection use, and of
 * a model alias that all runs of one organization use.
 */
const shareOf = (places: RawBuilder<unknown>): RawBuilder<unknown> => sql`greatest(${places} - 1, least(${places}, 2))`;

const placesOfOneConnection = shareOf(sql`l.cap`);

/** The connections without a free place, and those that have all the places of a lane that they may take. */
const fullConnectionsCte = sql`
  full_connections as materialized (
    select c.id from run_queue b join connections c on c.organization_id = b.organization_id and c.id = b.connection_id
    where b.state = 'running' and b.connection_id is not null group by c.id, c.places having count(*) >= c.places
  ), full_connections_of_lanes as materialized (
    select b.connection_id, b.kind from run_queue b join lanes l on l.organization_id = b.organization_id and l.kind = b.kind and l.model_alias = ''
    where b.state = 'running' and b.connection_id is not null group by b.connection_id, b.kind, l.cap having count(*) >= ${placesOfOneConnection}
  )`;

/**
 * Condition on `run_queue q` that its connection has a free place, in its lane too, and is not paused. A manual run tries a paused connection and
 * reports the failure. The lists are computed once per claim because thousands of runs may wait for one connection.
 */
const isConnectionFree = sql`q.connection_id <> all (array(select id from full_connections))
  and (q.connection_id, q.kind) not in (select connection_id, kind from full_connections_of_lanes)
  and (q.kind = 'manual' or q.connection_id <> all (array(select connection_id from connection_pauses)))`;

const freeConnectionPlaces = sql`(
  select least(c.places - busy.n, ${placesOfOneConnection} - busy.of_lane)
  from connections c join lanes l on l.organization_id = c.organization_id and l.kind = q.kind and l.model_alias = '' cross join lateral (
    select count(*) as n, count(*) filter (where b.kind = q.kind) as of_lane from run_queue b
    where b.organization_id = c.organization_id and b.connection_id = c.id and b.state = 'running') busy
  where c.organization_id = q.organization_id and c.id = q.connection_id)`;

const examineQueue: Queue = {
  phase: 'examine',
  lock: null,
  ctes: fullConnectionsCte,
  freePlaces: sql`l.cap - busy.n`,
  isFree: sql`(q.connection_id is null or ${isConnectionFree}) and ${hasNoOther('examine', sql`o.state = 'running'`)}`,
  isWithinPlaces: sql`(q.connection_id is null or ranked_runs.nth_of_connection <= coalesce(${freeConnectionPlaces}, 1))`,
};

/** Claimers of one lane exclude each other through its row. The places of a model alias are shared by all lanes, so its claimers wait for each other. */
const lockAliasPlaces = sql`select pg_advisory_xact_lock(8423014)`;

/** The aliases of which a run takes a place, by its own alias. */
function usedAliasesCte(limits: ConcurrencyLimits): RawBuilder<unknown> {
  const pairs = Object.entries(limits).flatMap(([alias, limit]) =>
    [alias, ...(typeof limit === 'number' ? [] : [limit.escalateTo])].map((used) => ({ alias, used })),
  );
  return sql`
    used_aliases as materialized (
      select * from unnest(${pairs.map(({ alias }) => alias)}::text[], ${pairs.map(({ used }) => used)}::text[]) as u (alias, used)
    )`;
}

/** Counts the runs that take a place of an alias. The caller may add conditions on `run_queue b`. */
const countUses = (alias: RawBuilder<unknown>): RawBuilder<unknown> => sql`
    select count(*) from run_queue b
    where b.state = 'running' and b.phase = 'judge' and b.model_alias in (select o.alias from used_aliases o where o.used = ${alias})`;

const createJudgeQueue = (limits: ConcurrencyLimits): Queue => ({
  phase: 'judge',
  lock: lockAliasPlaces,
  ctes: sql`${usedAliasesCte(limits)},
    aliases as materialized (
      select m.alias, m.places, m.places - (${countUses(sql`m.alias`)}) as free
      from unnest(${Object.keys(limits)}::text[], ${Object.values(limits).map(placesOf)}::int[]) as m (alias, places)
    )`,
  freePlaces: sql`least(l.cap - busy.n, (
    select min(least(a.free, ${shareOf(sql`a.places`)} - (${countUses(sql`a.alias`)} and b.organization_id = l.organization_id)))
    from used_aliases u join aliases a on a.alias = u.used where u.alias = l.model_alias))`,
  isFree: sql`(q.kind in (${sql.join(responseKinds.map((kind) => sql.lit(kind)))})
    or ${hasNoOther('judge', sql`(o.state = 'running' or (o.start_at, o.run_id) < (q.start_at, q.run_id))`)})`,
  isWithinPlaces: sql`true`,
});
