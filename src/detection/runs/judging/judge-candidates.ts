import { inOrg, type Db, type Tx } from '../../../platform/db/db.ts';
import type { Clock } from '../../../platform/lib/time/clock.ts';
import type { ActiveRun } from '../run-model/active-run.ts';
import { writeProgress, inRunTransaction } from '../run-model/run-results.store.ts';
import { addWarning, runStep, timePhase } from '../run-model/run-progress.ts';
import { listPendingCandidates, type StoredCandidate } from './candidates.store.ts';
import { addToProgress, judgeSideBySide, type JudgingSession, resolveWaiting } from './judging-session.ts';
import { type Fallback, judgeByFacts, judgeCandidate } from './judge.ts';
import {
  findSuppressionKey,
  loadMutes,
  type Resolution,
  resolveCandidates,
  settleCandidate,
  type SettlingContext,
  toDetectionTexts,
  toJudged,
} from './resolutions/resolve-candidates.ts';
import { listOpenCases } from './review-cases.store.ts';
import { storeResolutions } from './resolutions/store-resolutions.ts';
import { describeMissingLists } from '../../value-lists/value-lists.store.ts';
import { findSuppressions } from './resolutions/suppressions.store.ts';

export type JudgeCandidatesDeps = { db: Db; clock: Clock };

/** Candidates that are judged together if verdicts are free. */
const instantBatchMax = 500;
/** Candidates that a model judges, several at a time. */
const modelBatchMax = 50;

/**
 * Judges all pending candidates of a run's detection: the oldest window first, and in a window the most severe first. Each verdict
 * is stored as it comes. Once the judge stops, the remaining candidates are raised from their facts, or wait for the next attempt.
 */
export async function judgeCandidates(
  deps: JudgeCandidatesDeps,
  run: ActiveRun,
  session: JudgingSession,
): Promise<void> {
  const judging = timePhase('judge', async () => {
    while (await judgeBatch(deps, run, session));
  });
  await runStep(run, judging);
}

/**
 * Ends the judging of an attempt whose windows are all examined. Candidates that wait for the judge are raised from their facts,
 * unless another attempt follows: then the failure is thrown that the run waits for.
 */
export async function finishJudging(deps: JudgeCandidatesDeps, run: ActiveRun, session: JudgingSession): Promise<void> {
  // Once the judge has stopped for good, nothing waits: all candidates were raised.
  if (session.waitingIds.size === 0 || session.stop?.fallback) return;
  const fallback = await resolveWaiting(run, session);
  if (fallback === null) throw session.waitingError;
  const isOutage = !fallback.isFinal;
  session.stop = { error: session.waitingError, fallback };
  session.waitingIds.clear();
  session.waitingKeys.clear();
  await judgeCandidates(deps, run, session);
  if (!isOutage) session.stop = null;
}

/** Returns whether more candidates may be pending. */
async function judgeBatch(deps: JudgeCandidatesDeps, run: ActiveRun, session: JudgingSession): Promise<boolean> {
  const { judge, signal, stop } = session;
  signal.throwIfAborted();
  if (stop && stop.fallback === null) return false;
  const isInstant = judge.instant || stop !== null;
  const { candidates, context } = await inOrg(deps.db, run.orgId, (tx) =>
    readBatch(tx, run, { session, limit: isInstant ? instantBatchMax : modelBatchMax }),
  );
  if (candidates.length === 0) return false;
  if (isInstant) await judgeTogether(deps, run, { candidates, context, session });
  else await judgeEach(deps, run, { candidates, context, session });
  return true;
}

type Batch = { candidates: StoredCandidate[]; context: SettlingContext; session: JudgingSession };

async function readBatch(
  tx: Tx,
  run: ActiveRun,
  { session, limit }: { session: JudgingSession; limit: number },
): Promise<Omit<Batch, 'session'>> {
  const { orgId, detectionId, id: runId } = run;
  const candidates = await listPendingCandidates(
    tx,
    { orgId, detectionId, runId, ownRunOnly: run.trigger === 'manual' },
    // Candidates that wait are raised with all others once the judge has stopped.
    { excludedIds: session.stop ? [] : [...session.waitingIds], limit },
  );
  const keys = candidates.flatMap((candidate) => findSuppressionKey(run, candidate) ?? []);
  const listNames = run.definition.tuning?.allowLists ?? [];
  const { missingLists, ...mutes } = await loadMutes(tx, run, { listNames, candidates });
  if (missingLists.length > 0) addWarning(run.progress, 'unknown_list', describeMissingLists(missingLists));
  const known = keys.length > 0 ? await findSuppressions(tx, run, keys) : new Map<string, never[]>();
  const openCases = keys.length > 0 ? await listOpenCases(tx, run, keys) : new Map<string, never>();
  return { candidates, context: { getScope: () => run, known, openCases, ...mutes } };
}

/** Judges a batch whose verdicts are free, in one transaction. */
async function judgeTogether(
  deps: JudgeCandidatesDeps,
  run: ActiveRun,
  { candidates, context, session }: Batch,
): Promise<void> {
  const { judge, signal, stop } = session;
  const fallback = stop?.fallback ?? null;
  const detection = toDetectionTexts(run);
  const resolutions = await resolveCandidates(candidates, context, (candidate) =>
    fallback ? judgeByFacts(candidate, detection, fallback) : judgeCandidate(judge, candidate, detection, signal),
  );
  await store(deps, run, resolutions, fallback);
}

/** Lets a model judge the candidates of a batch that need a verdict. Each verdict is stored as it comes. */
async function judgeEach(
  deps: JudgeCandidatesDeps,
  run: ActiveRun,
  { candidates, context, session }: Batch,
): Promise<void> {
  const settled: Resolution[] = [];
  const open: { id: string; key: string | null; candidate: StoredCandidate }[] = [];
  // Of candidates that share a verdict, the first is judged. The others are settled in the next batch.
  const openKeys = new Set<string>();
  for (const candidate of candidates) {
    const resolution = settleCandidate(candidate, context);
    const key = findSuppressionKey(run, candidate);
    if (resolution) settled.push(resolution);
    else if (key !== null && session.waitingKeys.has(key)) session.waitingIds.add(candidate.id);
    else if (key === null || !openKeys.has(key)) {
      if (key !== null) openKeys.add(key);
      open.push({ id: candidate.id, key, candidate });
    }
  }
  if (settled.length > 0) await store(deps, run, settled, null);
  const detection = toDetectionTexts(run);
  await judgeSideBySide(session, open, async ({ candidate }, signal) => {
    const judgment = await judgeCandidate(session.judge, candidate, detection, signal);
    return () => store(deps, run, [toJudged(candidate, run, judgment)], judgment.fallback);
  });
}

/** Stores resolutions and the progress of the run in a fenced transaction. */
async function store(
  deps: JudgeCandidatesDeps,
  run: ActiveRun,
  resolutions: Resolution[],
  fallback: Fallback | null,
): Promise<void> {
  await inRunTransaction(deps.db, run, async (tx) => {
    const stored = await storeResolutions(tx, { ...run, runId: run.id }, resolutions, deps.clock());
    if (stored.length === 0) return;
    addToProgress(run, stored, fallback);
    await writeProgress(tx, run);
  });
}
