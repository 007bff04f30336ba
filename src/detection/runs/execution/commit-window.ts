import { sql } from 'kysely';
import type { Candidate } from '../../analysis/candidate.ts';
import { remembers, writeMemory } from '../../analysis/memory/memory.store.ts';
import type { Tx } from '../../../platform/db/db.ts';
import { uuidv7 } from '../../../platform/lib/ids.ts';
import { leaveGapWindow } from '../../scheduling/gap-windows.store.ts';
import { coverGapWindow, coverWindow, leaveGap } from '../../scheduling/coverage.store.ts';
import type { Examination } from './examine-window.ts';
import { reconcileCandidates } from '../judging/reconcile-candidates.ts';
import { noteRecheck, takeRecheck } from '../backfill/rechecks.store.ts';
import { findMemoryEpoch, noteChangedPast, takeRevisit } from '../backfill/revisits.store.ts';
import type { Run } from '../run-types.ts';

/** The past that a window was analysed over has changed since: it is to be analysed again. */
export class PastChanged extends Error {}

/**
 * Stores an examined window within a fenced transaction: coverage, or for a cut one a gap and no memory; memory; candidates.
 * The caller writes the run's progress. Nothing is stored for a window that is no longer pending (it went beyond the look-back meanwhile).
 * Runs by hand move no coverage and no memory. Throws `PastChanged`.
 */
export async function commitWindow(tx: Tx, run: Run, examination: Examination, now: Date): Promise<void> {
  const { window, examined, candidates, memory } = examination;
  if (run.trigger === 'backfill') return commitLate(tx, run, examination, now);
  if (run.trigger === 'schedule') {
    if (memory && (await findMemoryEpoch(tx, run, true)) !== examination.epoch) throw new PastChanged();
    const held = examined.truncated
      ? await leaveGap(tx, run, { ...window, reason: 'truncated', now })
      : await coverWindow(tx, run, window);
    if (!held) return;
    if (memory && !examined.truncated) await writeMemory(tx, run.scope, window, memory);
    if (!examined.truncated) await noteRecheck(tx, run, window, now);
  }
  run.progress.windows.push(examined);
  await insertCandidates(tx, run, { window, candidates, now });
}

/** A window out of turn: one of a gap, whose memory touches later windows, one of those, looked at again, or one examined once more for late rows. */
async function commitLate(tx: Tx, run: Run, examination: Examination, now: Date): Promise<void> {
  const { window, examined, candidates, memory } = examination;
  const owner = { ...window, runId: run.id, now };
  if (examination.recheck) {
    if (!(await takeRecheck(tx, run, window)) || examined.truncated) return;
    run.progress.windows.push(examined);
    await renewMemory(tx, run, window, memory);
  } else if (examination.again) {
    if (!(await takeRevisit(tx, run, window))) return;
    // On event time its own rows may be others by now; on ingest time they never are.
    if (run.clock === 'event' && !examined.truncated) await renewMemory(tx, run, window, memory);
  } else {
    const held = examined.truncated
      ? await leaveGapWindow(tx, run, { ...owner, reason: 'truncated' })
      : await coverGapWindow(tx, run, owner);
    if (!held) return;
    run.progress.windows.push(examined);
    if (memory && !examined.truncated) {
      await writeMemory(tx, run.scope, window, memory);
      await noteChangedPast(tx, run, window);
    }
    if (!examined.truncated) await noteRecheck(tx, run, window, now);
  }
  const fresh = await reconcileCandidates(tx, run, { window, candidates, now });
  await insertCandidates(tx, run, { window, candidates: fresh, now });
}

/** Puts what a window gives now in place of what was remembered of it; where that differs, later windows see another past. */
async function renewMemory(
  tx: Tx,
  run: Run,
  window: Examination['window'],
  memory: Examination['memory'],
): Promise<void> {
  if (!memory || (await remembers(tx, run.scope, window, memory))) return;
  await writeMemory(tx, run.scope, window, memory);
  await noteChangedPast(tx, run, window);
}

async function insertCandidates(
  tx: Tx,
  run: Run,
  given: { window: { from: Date; to: Date }; candidates: Candidate[]; now: Date },
): Promise<void> {
  const { window, candidates, now } = given;
  if (candidates.length === 0) return;
  await sql`
    insert into candidates (organization_id, id, detection_id, run_id, trigger, window_from, window_to, generation, created_at,
      entity, entity_type, kind, kind_key, severity, facts, rows)
    select ${run.orgId}::uuid, id, ${run.detectionId}::uuid, ${run.id}::uuid, ${run.trigger}, ${window.from}::timestamptz,
      ${window.to}::timestamptz, ${run.scope.generation}, ${now}::timestamptz, entity, entity_type, kind, kind_key, severity, facts, rows
    from unnest(${candidates.map(() => uuidv7(window.to))}::uuid[], ${candidates.map((one) => one.entity)}::text[],
      ${candidates.map((one) => one.entityType)}::text[], ${candidates.map((one) => one.kind)}::text[],
      ${candidates.map((one) => one.kindKey)}::text[], ${candidates.map((one) => one.severity)}::text[],
      ${candidates.map((one) => JSON.stringify(one.facts))}::text[], ${candidates.map((one) => JSON.stringify(one.rows))}::text[])
      as c (id, entity, entity_type, kind, kind_key, severity, facts, rows)`.execute(tx);
}
