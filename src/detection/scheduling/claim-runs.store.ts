import { sql, type RawBuilder } from 'kysely';
import { acrossOrgs, acrossOrgsAtOnce, rows, type Db } from '../../platform/db/db.ts';
import { uuidv7 } from '../../platform/lib/ids.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { placeRules, type Places } from './concurrency-limits.ts';

export const leaseMs = 60_000;
const lostMax = 3;

/** A run that a worker holds. `worker` names this very claim and, with `attempt`, guards every write for it. */
export type Claim = {
  orgId: OrgId;
  runId: string;
  detectionId: string;
  kind: string;
  dueAt: Date;
  attempt: number;
  retries: number;
  worker: string;
  /** As its detection named it when the run was queued; null: the built-in analyst. */
  modelAlias: string | null;
  /** An earlier claim has begun it. */
  resumed: boolean;
};

type ClaimRow = {
  organization_id: OrgId;
  run_id: string;
  detection_id: string;
  kind: string;
  due_at: Date;
  attempt: number;
  retries: number;
  worker: string;
  model_alias: string | null;
  resumed: boolean;
};

const columns = sql`q.organization_id, q.run_id, q.detection_id, q.kind, q.due_at, q.attempt, q.retries, q.worker, q.model_alias`;
const lease = sql`clock_timestamp() + ${`${leaseMs} milliseconds`}::interval`;

// Lists that are made once a claim: a lane may hold many thousand runs that wait for one connection. A run asked for by hand tries a paused
// connection, and tells what it met.
const hasPlace = sql`q.connection_id <> all (array(
    select c.id from run_queue b join connections c on c.organization_id = b.organization_id and c.id = b.connection_id
    where b.state = 'running' and b.connection_id is not null group by c.id, c.places having count(*) >= c.places))
  and (q.kind = 'manual' or q.connection_id <> all (array(select connection_id from connection_pauses)))`;

const placesLeft = sql`(
  select c.places - (select count(*) from run_queue b where b.organization_id = c.organization_id and b.connection_id = c.id and b.state = 'running')
  from connections c where c.organization_id = q.organization_id and c.id = q.connection_id)`;

const toClaim = (row: ClaimRow): Claim => ({
  orgId: row.organization_id,
  runId: row.run_id,
  detectionId: row.detection_id,
  kind: row.kind,
  dueAt: row.due_at,
  attempt: row.attempt,
  retries: row.retries,
  worker: row.worker,
  modelAlias: row.model_alias,
  resumed: row.resumed,
});

/**
 * Claims up to `limit` runs of one lane: of the lanes with a free place and a run that may start at slot time `now`, the one
 * served longest ago. Empty: nothing to do. `served_at` stands in the lane's condition so that a claimer who waited for
 * nobody but read an older state of the lane drops it: the cap holds and a detection never runs twice at once.
 * Runs with a model are held to its places (`places`), and leave one of a lane to runs without; those without a free place are passed by.
 * Of several runs of one detection (after an outage each slot's may wait for its next attempt) the oldest is claimed, the others later.
 * A run whose connection is paused or has no place left is passed by.
 * The commit does not wait for the disk: a claim that a crash of the server undoes is refused at its first fenced write.
 */
export async function claimRunsAcrossOrgs(db: Db, now: Date, limit: number, places: Places = {}): Promise<Claim[]> {
  const rules = placeRules(places);
  // Subqueries with a limit, laterals, and conditions that the planner takes for common: a lane's runs are then read by its index, no
  // further than needed. Of `is null` it thinks that hardly a run meets it, and would rather sort the whole lane.
  const claimable = (
    room: RawBuilder<unknown>,
  ) => sql`q.state = 'queued' and q.start_at <= ${now} and (q.retry_at is null or q.retry_at <= clock_timestamp())
    and ${rules.mayRun(room)} and (q.connection_id is null or ${hasPlace})
    and coalesce((select false from run_queue o where o.organization_id = q.organization_id and o.detection_id = q.detection_id
      and o.kind = q.kind and o.state = 'running' limit 1), true)`;
  const roomInLane = sql`greatest(l.cap - 1, 1) - busy.with_model`;
  const taken = sql<ClaimRow>`
    with ${rules.tables} free as materialized (
      select l.organization_id, l.kind, l.served_at, l.cap - busy.n as places, ${roomInLane} as model_room, set_config('synchronous_commit', 'off', true)
      from lanes l cross join lateral (
        select count(*) as n, ${rules.inLane} as with_model from run_queue r
        where r.organization_id = l.organization_id and r.kind = l.kind and r.state = 'running'
      ) busy cross join lateral (
        select from run_queue q where q.organization_id = l.organization_id and q.kind = l.kind and ${claimable(roomInLane)}
        order by q.start_at, q.run_id limit 1
      ) waiting
      where busy.n < l.cap order by l.served_at limit 4
    ), lane as materialized (
      select l.organization_id, l.kind, free.places, free.model_room from free join lanes l using (organization_id, kind)
      where l.served_at = free.served_at order by free.served_at limit 1 for update of l skip locked
    ), served as (
      update lanes l set served_at = clock_timestamp() from lane where l.organization_id = lane.organization_id and l.kind = lane.kind
    ), oldest as materialized (
      select run.run_id, run.resumed, ${rules.ranks}, row_number() over (partition by run.detection_id order by run.start_at, run.run_id) as nth_of_detection,
        row_number() over (partition by run.connection_id order by run.start_at, run.run_id) as nth_of_connection from lane cross join lateral (
        select q.run_id, q.detection_id, q.begun as resumed, q.start_at, q.model_alias, q.connection_id, lane.model_room from run_queue q
        where q.organization_id = lane.organization_id and q.kind = lane.kind
          and ${claimable(sql`lane.model_room`)} order by q.start_at, q.run_id limit least(lane.places, ${limit}) for update skip locked
      ) run
    )
    update run_queue q set state = 'running', begun = true, attempt = q.attempt + 1, retry_at = null, lease_until = ${lease}, worker = ${uuidv7()}
    from oldest where q.run_id = oldest.run_id and oldest.nth_of_detection = 1 and ${rules.isWithin}
      and (q.connection_id is null or oldest.nth_of_connection <= coalesce(${placesLeft}, 1))
    returning ${columns}, oldest.resumed`;
  try {
    // Lanes are locked one by one, a model's places all at once: claimers that may take a model wait for one another.
    const takesModels = Object.values(places).some((n) => n > 0);
    const lock = takesModels ? [sql`select pg_advisory_xact_lock(8423014)`] : [];
    return (await acrossOrgsAtOnce<ClaimRow>(db, [...lock, taken]))
      .map(toClaim)
      .toSorted((a, b) => a.dueAt.getTime() - b.dueAt.getTime());
  } catch (error) {
    // Another claimer put a run of the same detection to work in the same moment; the next turn sees it.
    if ((error as { code?: string }).code === '23505') return [];
    throw error;
  }
}

/**
 * Extends the leases of these claims that have not ended; those missing from the answer are lost, `cancel` asks to stop. A worker whose lease
 * has ended has given the run up: an extension that comes late would keep it from the others for nothing.
 */
export async function renewLeasesAcrossOrgs(
  db: Db,
  claims: Claim[],
): Promise<{ runId: string; worker: string; cancel: boolean }[]> {
  return acrossOrgs(db, (tx) =>
    rows(
      tx,
      sql<{ runId: string; worker: string; cancel: boolean }>`
        update run_queue q set lease_until = ${lease}
        from unnest(${claims.map((claim) => claim.runId)}::uuid[], ${claims.map((claim) => claim.worker)}::text[]) as c (run_id, worker)
        where q.run_id = c.run_id and q.worker = c.worker and q.state = 'running' and q.lease_until > clock_timestamp()
        returning q.run_id as "runId", q.worker, q.cancel_requested as cancel`,
    ),
  );
}

/**
 * Milliseconds until the first of the runs due at slot time `now` that wait for a time comes to it: the next attempt, or, while
 * a worker holds it, the end of the lease. Undefined: none waits so.
 */
export async function findWaitAcrossOrgs(db: Db, now: Date): Promise<number | undefined> {
  const [found] = await acrossOrgs(db, (tx) =>
    rows(
      tx,
      sql<{ ms: number }>`
        select ceil(greatest(extract(epoch from min(coalesce(lease_until, retry_at)) - clock_timestamp()), 0) * 1000) as ms
        from run_queue where start_at <= ${now} and (state = 'running' or retry_at > clock_timestamp()) having count(*) > 0`,
    ),
  );
  return found?.ms;
}

export type LostRun = { claim: Claim; cancel: boolean };

/**
 * Puts runs whose lease has ended back into the queue. Those lost for the third time, and those that were to be cancelled,
 * are taken over by the caller instead, who has to finish them.
 */
export async function reapLostRunsAcrossOrgs(db: Db, limit: number): Promise<{ requeued: number; over: LostRun[] }> {
  const over = sql`(q.lost + 1 >= ${lostMax} or q.cancel_requested)`;
  const reaped = await acrossOrgs(db, (tx) =>
    rows(
      tx,
      sql<ClaimRow & { cancel_requested: boolean; over: boolean }>`
        with dead as (
          select run_id from run_queue where state = 'running' and lease_until < clock_timestamp()
          order by lease_until limit ${limit} for update skip locked
        ), taken as (
          update run_queue q set lost = q.lost + 1, state = case when ${over} then 'running' else 'queued' end,
            lease_until = case when ${over} then ${lease} end, worker = case when ${over} then ${uuidv7()} end
          from dead where q.run_id = dead.run_id
          returning ${columns}, true as resumed, q.cancel_requested, q.state = 'running' as over
        ), shown as (
          update runs r set status = 'queued' from taken where not taken.over and r.due_at = taken.due_at and r.id = taken.run_id
        )
        select * from taken`,
    ),
  );
  const finished = reaped.filter((row) => row.over);
  return {
    requeued: reaped.length - finished.length,
    over: finished.map((row) => ({ claim: toClaim(row), cancel: row.cancel_requested })),
  };
}
