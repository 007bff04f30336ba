import { sql } from 'kysely';
import { generationOf } from '../analysis/definition.ts';
import { inOrg, row, type Tx } from '../db/db.ts';
import type { Definition } from '../detections/definition.ts';
import type { Claim } from '../schedule/claim.ts';
import { lookbackMs } from '../schedule/crons.ts';
import { heldBy, holdRun } from '../schedule/fence.ts';
import { expireWindows } from '../schedule/pending.ts';
import { reachesBackTo, type SlotWindow } from '../schedule/timeline.ts';
import { listPendingWindows, pendingWindows } from '../schedule/windows.ts';
import { analysisOf } from './analysis-of.ts';
import type { WindowTask } from './examine.ts';
import { listLateWindows } from './late-windows.ts';
import type { ExaminedWindow, Progress, Run, RunDeps, RunTrigger } from './run.ts';

/** Windows that one claim examines at most; the rest follows at the next. */
export const windowsMax = 24;

// No language model is configured in this version: every alias means the built-in analyst.
const model = 'analyst';

type Begun = {
  cancel: boolean;
  trigger: RunTrigger;
  slot_at: Date | null;
  started_at: Date;
  window_from: Date | null;
  window_to: Date | null;
  on_event_time: boolean;
  definition: string;
  windows: string;
  entities: string;
  warnings: string;
  phases: string;
  deleted: boolean;
  active: boolean;
  lookback_minutes: number | null;
  leftovers: boolean;
  pending: { from: string; to: string; slotAt: string }[];
};

/** Why there is nothing to execute: the run is to be cancelled for this reason. */
export type Refusal = 'requested' | 'deleted' | 'disabled' | 'superseded';

export type Beginning = { run: Run; pending: WindowTask[]; leftovers: boolean; refusal: Refusal | null };

/**
 * First step of an attempt, in one fenced transaction: the run shows as running, its first attempt pins the definition's
 * revision, windows beyond the look-back become gaps. `pending`: up to `windowsMax` windows, and one more if more are left.
 */
export async function beginRun(deps: RunDeps, claim: Claim): Promise<Beginning> {
  const now = deps.clock();
  return inOrg(deps.db, claim.orgId, async (tx) => {
    const begun = await markRunning(tx, claim, now);
    const { cancel } = begun;
    const run = toRun(deps, claim, begun);
    const gone = goneOf(begun);
    // A run that had begun to examine before its detection went off ends in good order with what it has.
    const hasResults = run.progress.windows.length > 0;
    if (cancel || (gone && !hasResults))
      return { run, pending: [], leftovers: false, refusal: cancel ? 'requested' : gone };
    const pending = gone ? [] : await windowsFor(tx, deps, run, { begun, now });
    const idle = pending.length === 0 && !begun.leftovers && !hasResults;
    const superseded = begun.trigger === 'schedule' && claim.resumed && idle;
    return { run, pending, leftovers: begun.leftovers, refusal: superseded ? 'superseded' : null };
  });
}

function goneOf(begun: Begun): Refusal | null {
  if (begun.deleted) return 'deleted';
  return begun.trigger === 'schedule' && !begun.active ? 'disabled' : null;
}

// One statement: it is the first of many thousand runs an hour. What it writes may be lost with a crash of the server, since
// the run is then begun again, so its commit need not wait for the disk.
async function markRunning(tx: Tx, claim: Claim, now: Date): Promise<Begun> {
  const begun = await row(
    tx,
    sql<Begun>`
      with held as materialized (
        select cancel_requested, set_config('synchronous_commit', 'off', true) from run_queue
        where ${heldBy(claim)} for update
      ), facts as (
        insert into run_facts (organization_id, detection_id, last_run_at)
        select ${claim.orgId}::uuid, ${claim.detectionId}::uuid, ${now}::timestamptz from held
        on conflict (organization_id, detection_id) do update set last_run_at = greatest(run_facts.last_run_at, excluded.last_run_at)
      )
      update runs r set status = 'running', attempt = ${claim.attempt}, failure = null, started_at = coalesce(r.started_at, ${now}),
        lag_ms = coalesce(r.lag_ms, (extract(epoch from (${now}::timestamptz - r.due_at)) * 1000)::bigint), revision = v.revision,
        prompt_version = (v.definition::json->>'promptVersion')::int, model_alias = v.definition::json->>'modelAlias',
        query = v.definition::json->>'detectionQuery', model = ${model}
      from held, agents a join agent_revisions v on v.organization_id = a.organization_id and v.agent_id = a.id
        left join schedules s on s.organization_id = a.organization_id and s.detection_id = a.id
      where r.organization_id = ${claim.orgId} and r.due_at = ${claim.dueAt} and r.id = ${claim.runId}
        and a.organization_id = r.organization_id and a.id = r.detection_id and v.revision = coalesce(r.revision, a.revision)
      returning held.cancel_requested as cancel, r.trigger, r.slot_at, r.started_at, r.window_from, r.window_to, r.on_event_time,
        v.definition, r.windows, r.entities, r.warnings, r.phases, a.deleted_at is not null as deleted,
        coalesce(s.active, false) as active, s.lookback_minutes,
        (select coalesce(json_agg(p order by p."from"), '[]') from (${pendingWindows(claim, upTo(claim))}) p) as pending,
        exists (select from candidates c where c.organization_id = r.organization_id and c.detection_id = r.detection_id
          and c.state = 'pending') as leftovers`,
  );
  if (begun) return begun;
  await holdRun(tx, claim);
  throw new Error(`Run ${claim.runId} has no definition.`);
}

const upTo = (claim: Claim) => ({ slotAt: claim.dueAt, limit: windowsMax + 1 });

function windowsFor(tx: Tx, deps: RunDeps, run: Run, at: { begun: Begun; now: Date }): Promise<WindowTask[]> {
  if (run.trigger === 'schedule') return reachableWindows(tx, run, at.begun, at.now);
  if (run.trigger === 'backfill') return listLateWindows(tx, deps, run, windowsMax + 1);
  return Promise.resolve([]);
}

async function reachableWindows(tx: Tx, run: Run, begun: Begun, now: Date): Promise<SlotWindow[]> {
  const pending = begun.pending.map(({ from, to, slotAt }) => ({
    from: new Date(from),
    to: new Date(to),
    slotAt: new Date(slotAt),
  }));
  const before = reachesBackTo(now, lookbackMs(run.definition.cronSchedule, begun.lookback_minutes));
  if (!pending[0] || pending[0].slotAt >= before) return pending;
  await expireWindows(tx, [{ organizationId: run.orgId, detectionId: run.detectionId, before }], now);
  return listPendingWindows(tx, run, upTo(run.claim));
}

function toRun(deps: RunDeps, claim: Claim, begun: Begun): Run {
  const definition = JSON.parse(begun.definition) as Definition;
  const analysis = analysisOf(definition);
  const { orgId, detectionId } = claim;
  return {
    claim,
    orgId,
    id: claim.runId,
    detectionId,
    trigger: begun.trigger,
    slotAt: begun.slot_at,
    startedAt: begun.started_at,
    windowFrom: begun.window_from,
    windowTo: begun.window_to,
    clock: begun.on_event_time ? 'event' : deps.connectionFor(orgId).clock,
    definition,
    analysis,
    scope: { orgId, detectionId, generation: generationOf(analysis) },
    model,
    progress: progressOf(begun),
  };
}

function progressOf(begun: Begun): Progress {
  return {
    windows: JSON.parse(begun.windows) as ExaminedWindow[],
    entities: JSON.parse(begun.entities) as Progress['entities'],
    warnings: JSON.parse(begun.warnings) as Progress['warnings'],
    phases: JSON.parse(begun.phases) as Progress['phases'],
  };
}
