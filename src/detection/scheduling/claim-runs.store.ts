import { sql, type RawBuilder } from 'kysely';
import { acrossOrgsPipelined, type Db } from '../../platform/db/db.ts';
import { uuidv7 } from '../../platform/lib/ids.ts';
import { isNotSuspended } from '../../platform/orgs/orgs.store.ts';
import { claimColumns, leaseEnd, type RunClaim } from './run-claim.ts';

type ClaimScope = { now: Date; limit: number; rules: ConcurrencyRules };

const lockModelPlaces = sql`select pg_advisory_xact_lock(8423014)`;

/**
 * Claims up to `limit` runs of one lane that may start at slot time `now`, in order of their slots. Returns an empty list if
 * there is none. Lanes are served in turn: of those with a free place and a claimable run, the one served longest ago is next.
 * A claimable run is queued, is due, and its model, its connection and its detection are free. Of several claimable runs of one
 * detection only the oldest is claimed.
 *
 * The statement is a chain of CTEs, one function each. Its commit does not wait for the disk: a claim that a crash of the
 * database server loses is refused at its first fenced write.
 */
export async function claimRunsAcrossOrgs(
  db: Db,
  now: Date,
  limit: number,
  limits: ConcurrencyLimits = {},
): Promise<RunClaim[]> {
  const rules = createConcurrencyRules(limits);
  const scope = { now, limit, rules };
  const ctes = [
    fullConnectionsCte,
    dueStartsCte(scope),
    freeLanesCte(scope),
    claimedLaneCte,
    servedLaneCte,
    rankedRunsCte(scope),
  ];
  if (rules.freePlacesCte) ctes.unshift(rules.freePlacesCte);
  const claim = sql<RunClaim>`with recursive ${sql.join(ctes)} ${updateClaimedRuns(rules)}`;
  // Claimers of one lane exclude each other through its row. The places of a model are shared by all lanes, so those who may
  // take one wait for each other.
  const needsLock = Object.values(limits).some((places) => places > 0);
  try {
    const claims = await acrossOrgsPipelined<RunClaim>(db, needsLock ? [lockModelPlaces, claim] : [claim]);
    return claims.toSorted((a, b) => a.dueAt.getTime() - b.dueAt.getTime());
  } catch (error) {
    // A concurrent claimer started a run of the same detection. The next pass sees it.
    const isUniqueViolation = (error as { code?: string }).code === '23505';
    if (isUniqueViolation) return [];
    throw error;
  }
}

/** The places that a lane has left for runs with a model: one place is reserved for runs without. */
const laneModelPlaces = sql`greatest(l.cap - 1, 1) - busy.with_model`;

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
const dueStartsCte = ({ now }: ClaimScope): RawBuilder<unknown> => sql`
  next_start as (
    (select start_at, organization_id, kind from run_queue where state = 'queued' and start_at <= ${now}
      order by start_at, organization_id, kind limit 1)
    union all
    select n.start_at, n.organization_id, n.kind from next_start cross join lateral (
      select q.start_at, q.organization_id, q.kind from run_queue q
      where q.state = 'queued' and q.start_at <= ${now}
        and (q.start_at, q.organization_id, q.kind) > (next_start.start_at, next_start.organization_id, next_start.kind)
      order by q.start_at, q.organization_id, q.kind limit 1) n
  ), starts_max as materialized (
    select case when (select count(*) from (select from lanes limit ${fewLanes + 1}) l) > ${fewLanes} then ${dueStartsMax.ofManyLanes}::int else ${dueStartsMax.ofFewLanes}::int end as n
  ), due_starts as materialized (select * from next_start limit (select n from starts_max)),
  due_lanes as materialized (select distinct organization_id, kind from due_starts)`;

/**
 * Step 1: up to four lanes that have a free place and a claimable run, the one served longest ago first. Locks nothing. Only one of the two selects
 * is executed: the first for few due starts, the second for many, among which it soon finds four lanes.
 */
const freeLanesCte = (scope: ClaimScope): RawBuilder<unknown> => sql`
  free_lanes as materialized (
    (${selectFreeLanes(scope, sql`due_lanes join lanes l using (organization_id, kind)`, sql`(select count(*) from due_starts) < (select n from starts_max)`)})
    union all
    (${selectFreeLanes(scope, sql`lanes l`, sql`(select count(*) from due_starts) = (select n from starts_max)`)})
  )`;

const selectFreeLanes = (scope: ClaimScope, lanes: RawBuilder<unknown>, condition: RawBuilder<unknown>) => sql`
    select l.organization_id, l.kind, l.served_at, l.cap - busy.n as places, ${laneModelPlaces} as model_places,
      set_config('synchronous_commit', 'off', true)
    from ${lanes} cross join lateral (
      select count(*) as n, ${scope.rules.countWithModel} as with_model from run_queue r
      where r.organization_id = l.organization_id and r.kind = l.kind and r.state = 'running'
    ) busy cross join lateral (
      select from run_queue q where q.organization_id = l.organization_id and q.kind = l.kind and ${isClaimable(scope, laneModelPlaces)}
      order by q.start_at, q.run_id limit 1
    ) waiting
    where ${condition} and busy.n < l.cap and ${isNotSuspended(sql`l.organization_id`)} order by l.served_at limit 4`;

/**
 * Step 2: locks the first of these lanes that no other claimer has locked. A lane whose `served_at` has changed is dropped: its
 * free places were counted before another claimer took some. So a lane never exceeds its cap.
 */
const claimedLaneCte = sql`
  claimed_lane as materialized (
    select l.organization_id, l.kind, free_lanes.places, free_lanes.model_places
    from free_lanes join lanes l using (organization_id, kind)
    where l.served_at = free_lanes.served_at order by free_lanes.served_at limit 1 for update of l skip locked
  )`;

/** Step 3: moves the lane to the end of the order. */
const servedLaneCte = sql`
  served_lane as (
    update lanes l set served_at = clock_timestamp() from claimed_lane
    where l.organization_id = claimed_lane.organization_id and l.kind = claimed_lane.kind
  )`;

/** Step 4: locks the oldest claimable runs of the lane and ranks them by detection, connection and model. */
const rankedRunsCte = (scope: ClaimScope): RawBuilder<unknown> => sql`
  ranked_runs as materialized (
    select run.run_id, run.resumed, ${scope.rules.rankColumns},
      row_number() over (partition by run.detection_id order by run.start_at, run.run_id) as nth_of_detection,
      row_number() over (partition by run.connection_id order by run.start_at, run.run_id) as nth_of_connection
    from claimed_lane cross join lateral (
      select q.run_id, q.detection_id, q.begun as resumed, q.start_at, q.model_alias, q.connection_id,
        claimed_lane.model_places as lane_model_places
      from run_queue q where q.organization_id = claimed_lane.organization_id and q.kind = claimed_lane.kind
        and ${isClaimable(scope, sql`claimed_lane.model_places`)}
      order by q.start_at, q.run_id limit least(claimed_lane.places, ${scope.limit}) for update skip locked
    ) run
  )`;

/** Step 5: claims the oldest run of each detection, as far as the places of models and connections suffice for this batch. */
const updateClaimedRuns = (rules: ConcurrencyRules): RawBuilder<unknown> => sql`
  update run_queue q set state = 'running', begun = true, attempt = q.attempt + 1, retry_at = null, lease_until = ${leaseEnd}, worker = ${uuidv7()}
  from ranked_runs where q.run_id = ranked_runs.run_id and ranked_runs.nth_of_detection = 1 and ${rules.isWithinPlaces}
    and (q.connection_id is null or ranked_runs.nth_of_connection <= coalesce(${freeConnectionPlaces}, 1))
  returning ${claimColumns}, ranked_runs.resumed`;

/**
 * Condition on `run_queue q` that a run can be claimed. The form makes the planner read a lane through its index, only as far
 * as needed: it underestimates a plain `is null` or `not exists` and would sort the whole lane instead.
 */
const isClaimable = ({ now, rules }: ClaimScope, lanePlaces: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`q.state = 'queued' and q.start_at <= ${now} and (q.retry_at is null or q.retry_at <= clock_timestamp())
    and ${rules.hasPlace(lanePlaces)} and (q.connection_id is null or ${isConnectionFree})
    and coalesce((select false from run_queue o where o.organization_id = q.organization_id and o.detection_id = q.detection_id
      and o.kind = q.kind and o.state = 'running' limit 1), true)`;

/**
 * The places of a lane that the runs of one connection may take. Of three or more, one remains for other runs, however many places the connection
 * has: with a slow connection, all others of the organization would wait.
 */
const placesOfOneConnection = sql`greatest(l.cap - 1, least(l.cap, 2))`;

/** The connections without a free place, and those that have all the places of a lane that they may take. */
const fullConnectionsCte = sql`
  full_connections as materialized (
    select c.id from run_queue b join connections c on c.organization_id = b.organization_id and c.id = b.connection_id
    where b.state = 'running' and b.connection_id is not null group by c.id, c.places having count(*) >= c.places
  ), full_connections_of_lanes as materialized (
    select b.connection_id, b.kind from run_queue b join lanes l on l.organization_id = b.organization_id and l.kind = b.kind
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
  from connections c join lanes l on l.organization_id = c.organization_id and l.kind = q.kind cross join lateral (
    select count(*) as n, count(*) filter (where b.kind = q.kind) as of_lane from run_queue b
    where b.organization_id = c.organization_id and b.connection_id = c.id and b.state = 'running') busy
  where c.organization_id = q.organization_id and c.id = q.connection_id)`;

/** Maximum number of concurrent runs by model alias, across all processes. Runs of any other alias need no model. */
export type ConcurrencyLimits = Readonly<Record<string, number>>;

/**
 * The parts of the claim statement that enforce concurrency limits. Each alias has its limit, and a lane that may run two or
 * more reserves one place for runs without a model.
 */
type ConcurrencyRules = {
  /** CTE with the free places of each alias. Null without limits. */
  freePlacesCte: RawBuilder<unknown> | null;
  /** Aggregate over `run_queue r`: the number of runs with a model. */
  countWithModel: RawBuilder<unknown>;
  /** Condition on `run_queue q`: neither its lane nor its alias is full. `lanePlaces` is what the lane has left for runs with a model. */
  hasPlace: (lanePlaces: RawBuilder<unknown>) => RawBuilder<unknown>;
  /** Columns of `candidate_runs` that rank its rows for `isWithinPlaces`. */
  rankColumns: RawBuilder<unknown>;
  /** Condition on `ranked_runs`: the runs ranked before this one leave it a place. */
  isWithinPlaces: RawBuilder<unknown>;
};

const withoutLimits: ConcurrencyRules = {
  freePlacesCte: null,
  countWithModel: sql`0`,
  hasPlace: () => sql`true`,
  rankColumns: sql`0`,
  isWithinPlaces: sql`true`,
};

function createConcurrencyRules(limits: ConcurrencyLimits): ConcurrencyRules {
  const aliases = Object.keys(limits);
  if (aliases.length === 0) return withoutLimits;
  const needsModel = (table: string): RawBuilder<unknown> =>
    sql`coalesce(${sql.ref(`${table}.model_alias`)} = any(${aliases}::text[]), false)`;
  return {
    freePlacesCte: sql`free_model_places as materialized (
      select m.alias, m.places - (select count(*) from run_queue b where b.state = 'running' and b.model_alias = m.alias) as free
      from unnest(${aliases}::text[], ${Object.values(limits)}::int[]) as m (alias, places)
    )`,
    countWithModel: sql`count(*) filter (where ${needsModel('r')})`,
    hasPlace: (lanePlaces) =>
      sql`(not ${needsModel('q')} or (${lanePlaces} > 0 and q.model_alias not in (select alias from free_model_places where free <= 0)))`,
    rankColumns: sql`row_number() over (partition by ${needsModel('run')} order by run.start_at, run.run_id) as nth_with_model,
      row_number() over (partition by run.model_alias order by run.start_at, run.run_id) as nth_of_alias, run.lane_model_places`,
    isWithinPlaces: sql`(not ${needsModel('q')} or (ranked_runs.nth_with_model <= ranked_runs.lane_model_places
      and ranked_runs.nth_of_alias <= (select free from free_model_places where alias = q.model_alias)))`,
  };
}
