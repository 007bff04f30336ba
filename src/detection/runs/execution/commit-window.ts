import { sql } from 'kysely';
import { queryRows, type Tx, type Db } from '../../../platform/db/db.ts';
import { splitIntoBatches } from '../../../platform/lib/concurrency/batches.ts';
import { mapInSlices } from '../../../platform/lib/concurrency/slices.ts';
import { uuidv7 } from '../../../platform/lib/ids.ts';
import type { Candidate } from '../../analysis/candidate.ts';
import { isRemembered, writeMemory } from '../../analysis/memory/memory.store.ts';
import { coverGapWindow, coverWindow, replaceWindowWithGap } from '../../scheduling/coverage.store.ts';
import { splitOffGapWindow } from '../../scheduling/fill-gaps.store.ts';
import { addMissedEvents, isWindowMatched } from '../../continuous/continuous-detections.store.ts';
import { deleteMatchedWindow } from '../../continuous/matched-windows.store.ts';
import { createHitKey } from '../../hits/hit-key.ts';
import { scheduleLateSlots } from './late-slots.ts';
import {
  deleteRecheck,
  scheduleRecheck,
  deleteRevisit,
  lockMemoryEpoch,
  recordPastChange,
} from './backfill-windows.store.ts';
import { reconcileCandidates } from '../judging/candidates.store.ts';
import { findWithdrawn } from '../judging/withdrawn-events.store.ts';
import type { ActiveRun } from '../run-model/active-run.ts';
import type { Examination } from './examine-window.ts';
import type { Clock } from '../../../platform/lib/time/clock.ts';
import { isDueToData, SiemError } from '../../siem/connector.ts';
import type { WindowTask } from '../run-model/search-window.ts';
import { writeProgress, inRunTransaction } from '../run-model/run-results.store.ts';
import type { RunProgress, RunStep } from '../run-model/run-progress.ts';

// Small, because the driver copies the texts of a statement without a pause.
const candidatesPerInsert = 100;
const rowCharsPerInsert = 1_000_000;

/** The past changed after the window was compared with it, so the window must be examined again. */
export class PastChangedError extends Error {}

/**
 * Stores an examined window in a fenced transaction: its coverage, or a gap if it was truncated, then its memory and its
 * candidates. Returns the progress of the run, which the caller stores. Stores nothing for a window that is no longer pending
 * because it passed the look-back limit. Manual runs change neither coverage nor memory. Throws `PastChangedError`.
 */
export async function commitWindow(
  tx: Tx,
  run: ActiveRun,
  examination: Examination,
  now: Date,
): Promise<{ progress: RunProgress; found: boolean }> {
  const { trigger, progress } = run;
  const { window } = examination;
  const nothing = { progress, found: false };
  let { candidates } = examination;
  let arrivedAt: Date | undefined;
  if (trigger === 'backfill') {
    if (!(await commitLateWindow(tx, run, examination, now))) return nothing;
    candidates = await reconcileCandidates(tx, run, { ...examination, now });
  } else if (trigger === 'continuous') {
    arrivedAt = await deleteMatchedWindow(tx, run, { window, now });
    if (!arrivedAt) return nothing;
  } else {
    if (trigger === 'schedule' && !(await commitScheduledWindow(tx, run, examination, now))) return nothing;
    await scheduleLateSlots(tx, run, examination.lateSlots, now);
  }
  const isMatched =
    examination.ofEvents &&
    trigger === 'schedule' &&
    candidates.length > 0 &&
    (await isWindowMatched(tx, run.claim, window));
  if (examination.ofEvents) candidates = await dropKnownEvents(tx, run, candidates);
  const missed = isMatched ? candidates.length : 0;
  if (missed > 0) await addMissedEvents(tx, run, missed);
  await insertCandidates(tx, run, { ...examination, candidates, arrivedAt: arrivedAt ?? null }, now);
  const found = candidates.length > 0;
  // Only the past of a revisited window changed.
  if (examination.repeat === 'revisit') return { progress, found };
  const examined = { ...examination.examined, candidates: candidates.length };
  const warnings = missed === 0 ? progress.warnings : [...progress.warnings, describeMissed(missed)];
  return { progress: { ...progress, windows: [...progress.windows, examined], warnings }, found };
}

const describeMissed = (events: number) => ({
  code: 'stream_missed',
  detail: `The continuous matching had not found ${events} of the events of a window. The slot has found them.`,
});

/** Returns the candidates without events that are candidates already, because the continuous matching or another run has found them. */
async function dropKnownEvents(tx: Tx, run: ActiveRun, candidates: Candidate[]): Promise<Candidate[]> {
  if (candidates.length === 0) return candidates;
  const keys = candidates.map((candidate) => createEventKey(run, candidate));
  const known = await queryRows<{ key: string }>(tx)`
    select event_key as key from candidates where organization_id = ${run.orgId} and event_key = any(${keys}::text[])`;
  const knownKeys = new Set(known.map(({ key }) => key));
  return candidates.filter((_, index) => !knownKeys.has(keys[index]!));
}

const createEventKey = ({ detectionId }: ActiveRun, { entityType, entity, kindKey }: Candidate): string =>
  createHitKey(detectionId, entityType, entity, kindKey);

/** Returns false if the window is no longer pending. */
async function commitScheduledWindow(tx: Tx, run: ActiveRun, examination: Examination, now: Date): Promise<boolean> {
  const { window, examined, memory, epoch } = examination;
  if (memory && (await lockMemoryEpoch(tx, run)) !== epoch) throw new PastChangedError();
  if (examined.truncated) return replaceWindowWithGap(tx, run, { ...window, reason: 'truncated', now });
  if (!(await coverWindow(tx, run, window))) return false;
  if (memory) await writeMemory(tx, run.scope, window, memory);
  await scheduleRecheck(tx, run, window, now);
  return true;
}

/** Returns whether the candidates of the window count: false if another run has examined it meanwhile. */
async function commitLateWindow(tx: Tx, run: ActiveRun, examination: Examination, now: Date): Promise<boolean> {
  const { window, examined } = examination;
  switch (examination.repeat) {
    case 'recheck':
      if (!(await deleteRecheck(tx, run, window)) || examined.truncated) return false;
      await replaceMemory(tx, run, examination);
      return true;
    case 'revisit':
      if (!(await deleteRevisit(tx, run, window))) return false;
      // The rows of a window can change on event time, and with late events.
      if ((run.clock === 'event' || run.connection.lateEvents) && !examined.truncated)
        await replaceMemory(tx, run, examination);
      return true;
    case undefined:
      return commitGapWindow(tx, run, examination, now);
  }
}

/** Stores a window of a gap. Its memory changes the past of later windows. */
async function commitGapWindow(
  tx: Tx,
  run: ActiveRun,
  { window, examined, memory, lateSlots }: Examination,
  now: Date,
): Promise<boolean> {
  const gapWindow = { ...window, runId: run.id, now };
  const isFilled = examined.truncated
    ? await splitOffGapWindow(tx, run, { ...gapWindow, reason: 'truncated' })
    : await coverGapWindow(tx, run, gapWindow);
  if (!isFilled) return false;
  await scheduleLateSlots(tx, run, lateSlots, now);
  if (examined.truncated) return true;
  if (memory) {
    await writeMemory(tx, run.scope, window, memory);
    await recordPastChange(tx, run, window);
  }
  await scheduleRecheck(tx, run, window, now);
  return true;
}

/** Replaces the memory of a window. If it differs, the past of later windows has changed. */
async function replaceMemory(tx: Tx, run: ActiveRun, { window, memory }: Examination): Promise<void> {
  if (!memory || (await isRemembered(tx, run.scope, window, memory))) return;
  await writeMemory(tx, run.scope, window, memory);
  await recordPastChange(tx, run, window);
}

async function insertCandidates(
  tx: Tx,
  run: ActiveRun,
  { candidates, ...examination }: Pick<Examination, 'window' | 'candidates' | 'ofEvents'> & { arrivedAt: Date | null },
  now: Date,
): Promise<void> {
  const isWithdrawn = await findWithdrawn(tx, run.orgId, candidates);
  const weightLimit = { max: rowCharsPerInsert, of: ({ rows }: CandidateTexts) => rows.length };
  // The texts of all candidates of a window at once would need too much memory.
  for (const some of splitIntoBatches(candidates, candidatesPerInsert)) {
    const withTexts = await mapInSlices(some, (candidate) => ({
      candidate,
      rows: JSON.stringify(candidate.rows),
      state: isWithdrawn(candidate) ? ('outdated' as const) : ('pending' as const),
    }));
    for (const batch of splitIntoBatches(withTexts, candidatesPerInsert, weightLimit))
      await insertCandidateBatch(tx, run, { ...examination, batch }, now);
  }
}

/** `rows` is the JSON of the candidate's rows. */
type CandidateTexts = { candidate: Candidate; rows: string; state: 'pending' | 'outdated' };

async function insertCandidateBatch(
  tx: Tx,
  run: ActiveRun,
  {
    window,
    ofEvents,
    arrivedAt,
    batch,
  }: Pick<Examination, 'window' | 'ofEvents'> & { arrivedAt: Date | null; batch: CandidateTexts[] },
  now: Date,
): Promise<void> {
  const candidates = batch.map(({ candidate }) => candidate);
  const eventKeys = candidates.map((candidate) => (ofEvents ? createEventKey(run, candidate) : null));
  await sql`
    insert into candidates (organization_id, id, detection_id, run_id, trigger, window_from, window_to, generation, arrived_at, created_at,
      entity, entity_type, kind, kind_key, event_key, severity, facts, rows, state)
    select ${run.orgId}::uuid, id, ${run.detectionId}::uuid, ${run.id}::uuid, ${run.trigger}, ${window.from}::timestamptz,
      ${window.to}::timestamptz, ${run.scope.generation}, ${arrivedAt}::timestamptz, ${now}::timestamptz, entity, entity_type, kind, kind_key, event_key, severity, facts, rows, state
    from unnest(${candidates.map(() => uuidv7(window.to))}::uuid[], ${candidates.map((candidate) => candidate.entity)}::text[],
      ${candidates.map((candidate) => candidate.entityType)}::text[], ${candidates.map((candidate) => candidate.kind)}::text[],
      ${candidates.map((candidate) => candidate.kindKey)}::text[], ${eventKeys}::text[], ${candidates.map((candidate) => candidate.severity)}::text[],
      ${candidates.map((candidate) => JSON.stringify(candidate.facts))}::text[],
      ${batch.map(({ rows }) => rows)}::text[], ${batch.map(({ state }) => state)}::text[])
      as c (id, entity, entity_type, kind, kind_key, event_key, severity, facts, rows, state)
    on conflict (organization_id, event_key) where event_key is not null do nothing`.execute(tx);
}

/**
 * Turns a window whose events make the query fail into a gap, so that it does not keep the later windows of the run from being examined. The
 * gap can be filled later, for example with another query. Throws the error if it has another cause, or for the last window: that one stays
 * pending and is examined again at the next slot.
 */
export async function* setWindowAside(
  { db, clock }: { db: Db; clock: Clock },
  run: ActiveRun,
  { window, error, isLast }: { window: WindowTask; error: unknown; isLast: boolean },
): RunStep<{ found: false }> {
  const isMovable = run.trigger === 'schedule' && !isLast && !window.repeat;
  if (!isMovable || !(error instanceof SiemError) || !isDueToData(error.failure)) throw error;
  const { kind, message } = error.failure;
  yield { code: 'window_failed', detail: `A window was not examined and is now a gap: ${message}` };
  await inRunTransaction(db, run, async (tx) => {
    await replaceWindowWithGap(tx, run, {
      from: window.from,
      to: window.to,
      reason: kind,
      detail: message,
      now: clock(),
    });
    await writeProgress(tx, run);
  });
  return { found: false };
}
