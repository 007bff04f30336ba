import { sql, type RawBuilder } from 'kysely';
import type { RunPhase } from '../detection/scheduling/run-claim.ts';
import { isNotSuspended } from '../platform/orgs/orgs.store.ts';
import { acrossOrgs, queryRow, type Db } from '../platform/db/db.ts';

/** The state of the whole installation in numbers. Ages are in seconds and 0 if nothing waits. */
export type InstallationFigures = {
  slotLag: number;
  queueAge: number;
  judgeQueueAge: number;
  matchLag: number;
  missedEvents: number;
  pausedContinuous: number;
  pendingWindows: number;
  failedWindows: number;
  openGaps: number;
  pendingDeliveries: number;
  deliveryAge: number;
  logEvents: number;
  sources: number;
  failingSources: number;
  items: number;
  openHits: number;
  pausedConnections: number;
  pausedModels: number;
  pendingErasures: number;
  erasureAge: number;
  failingErasures: number;
  finishedErasures: number;
  nearingQuotas: number;
  reachedQuotas: number;
};

const selectQueueAge = (phase: RunPhase): RawBuilder<unknown> => sql`
  (select coalesce(greatest(0, extract(epoch from now() - min(coalesce(retry_at, start_at)))), 0)
    from run_queue where state = 'queued' and phase = ${phase} and ${isNotSuspended(sql`organization_id`)})`;

/** Reads the figures of all organizations. The number of items is the database's estimate. */
export async function readInstallationFiguresAcrossOrgs(db: Db): Promise<InstallationFigures> {
  const figures = await acrossOrgs(
    db,
    (tx) => queryRow<InstallationFigures>(tx)`
      select
        (select coalesce(greatest(0, extract(epoch from now() - min(next_slot_at))), 0) from schedules where active and ${isNotSuspended(sql`organization_id`)}) as "slotLag",
        ${selectQueueAge('examine')} as "queueAge", ${selectQueueAge('judge')} as "judgeQueueAge",
        (select coalesce(greatest(0, extract(epoch from now() - min(oldest.at))), 0) from match_positions p
           join datasets d on d.organization_id = p.organization_id and d.name = p.dataset
           cross join lateral (select min(g.ingested_from) as at from segments g where g.organization_id = p.organization_id
             and g.dataset = p.dataset and not g.history and g.replaced_at is null and g.ingested_to >= p.matched_to) oldest
           where d.last_ingested_at >= p.matched_to and ${isNotSuspended(sql`p.organization_id`)}) as "matchLag",
        (select coalesce(sum(missed), 0) from continuous_detections) as "missedEvents",
        (select count(*) from continuous_detections where paused_at is not null) as "pausedContinuous",
        (select count(*) from pending_windows) as "pendingWindows",
        (select count(*) from pending_windows where failure is not null) as "failedWindows",
        (select count(*) from gaps where state = 'open') as "openGaps",
        d.pending as "pendingDeliveries", d.age as "deliveryAge",
        (select coalesce(sum(events), 0) from datasets) as "logEvents",
        f.sources, f.failing as "failingSources",
        (select greatest(0, reltuples) from pg_class where oid = 'items'::regclass) as items,
        (select count(*) from hits where status = 'open') as "openHits",
        (select count(*) from connection_pauses) as "pausedConnections",
        (select count(*) from model_pauses) as "pausedModels",
        e.pending as "pendingErasures", e.age as "erasureAge", e.failing as "failingErasures", e.finished as "finishedErasures",
        q.nearing as "nearingQuotas", q.reached as "reachedQuotas"
      from
        (select count(*) as pending, coalesce(extract(epoch from now() - min(created_at)), 0) as age
           from deliveries where state = 'pending') d,
        (select count(*) as sources, count(*) filter (where failures > 0) as failing from feed_sources where enabled) f,
        (select count(*) filter (where finished_at is null) as pending,
            coalesce(extract(epoch from now() - min(requested_at) filter (where finished_at is null)), 0) as age,
            count(*) filter (where error is not null) as failing,
            count(finished_at) as finished
           from organization_erasures) e,
        (select count(*) filter (where level = 'nearing') as nearing, count(*) filter (where level = 'reached') as reached from quota_alarms) q`,
  );
  return figures!;
}

export type LogStoreFigures = { logSegments: number; logBytes: number };

/** Reads the number and size of the files of all organizations. Its time grows with their number: about half a second for 900,000. */
export async function readLogStoreFiguresAcrossOrgs(db: Db): Promise<LogStoreFigures> {
  const figures = await acrossOrgs(
    db,
    (tx) => queryRow<LogStoreFigures>(tx)`
      select count(*) as "logSegments", coalesce(sum(bytes), 0) as "logBytes" from segments where replaced_at is null`,
  );
  return figures!;
}
