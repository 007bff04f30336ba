import { inOrg, type Tx } from '../../../platform/db/db.ts';
import { ModelError } from '../../../platform/models/model-error.ts';
import { applyLateVerdict, type LateVerdict } from '../../hits/write-hits.store.ts';
import type { ActiveRun } from '../run-model/active-run.ts';
import { writeProgress, inRunTransaction } from '../run-model/run-results.store.ts';
import { runStep, timePhase } from '../run-model/run-progress.ts';
import {
  listRaisedCandidates,
  lockCandidates,
  markJudged,
  reopenOccurrences,
  type StoredCandidate,
} from './candidates.store.ts';
import { finishJudging, judgeCandidates, type JudgeCandidatesDeps } from './judge-candidates.ts';
import { addVerdict, judgeSideBySide, type JudgingSession, startJudging } from './judging-session.ts';
import { judgeCandidate, type Judgment } from './judge.ts';
import { listCited } from '../../verdicts/observation.ts';
import { isHeld, toDetectionTexts, toJudged } from './resolutions/resolve-candidates.ts';
import { upsertSuppressions } from './resolutions/suppressions.store.ts';

/** Later runs ask the judge again about a hit that is younger than this. */
export const raisedMaxMs = 24 * 3_600_000;

const batchMax = 50;

/**
 * Lets the judge of a scheduled run or a backfill judge what earlier runs raised from the facts, most severe first, until the
 * budget is used up or the judge fails. If it dismisses a hit, the later occurrences of the hit are judged like new candidates.
 * Throws a failure of the model that needs a person, such as a rejected key.
 */
export async function judgeRaisedCandidates(
  deps: JudgeCandidatesDeps,
  run: ActiveRun,
  { judge, signal }: JudgingSession,
): Promise<void> {
  if (judge.instant || run.trigger === 'manual') return;
  const session = startJudging(judge, signal);
  const detection = toDetectionTexts(run);
  const askedIds = new Set<string>();
  let hasReopened = false;
  const judging = timePhase('judge', async () => {
    while (!session.stop) {
      const since = new Date(deps.clock().getTime() - raisedMaxMs);
      const candidates = await inOrg(deps.db, run.orgId, (tx) =>
        listRaisedCandidates(tx, run, { since, excludedIds: [...askedIds], limit: batchMax }),
      );
      if (candidates.length === 0) return;
      for (const { id } of candidates) askedIds.add(id);
      const open = candidates.map((candidate) => ({ id: candidate.id, key: null, candidate }));
      await judgeSideBySide(session, open, async ({ candidate }, signal) => {
        const judgment = keepHit(await judgeCandidate(session.judge, candidate, detection, signal));
        return async () => {
          const isDismissed = await inRunTransaction(deps.db, run, (tx) =>
            storeLateVerdict(tx, run, { candidate, judgment, now: deps.clock() }),
          );
          hasReopened ||= isDismissed;
        };
      });
    }
  });
  await runStep(run, judging);
  const error = session.stop?.error;
  if (error instanceof ModelError && error.pauses && !error.failure.retryable) throw error;
  if (!hasReopened) return;
  const reopened = startJudging(judge, signal);
  if (session.stop?.fallback) reopened.stop = session.stop;
  await judgeCandidates(deps, run, reopened);
  await finishJudging(deps, run, reopened);
}

/** What is a hit already waits for a person as a hit. */
const keepHit = (judgment: Judgment): Judgment =>
  isHeld(judgment.verdict) ? { ...judgment, verdict: { ...judgment.verdict, triggered: true } } : judgment;

/** Stores the verdict on a raised candidate and updates its hit, unless another run has judged it meanwhile. Returns whether it dismissed the hit. */
async function storeLateVerdict(
  tx: Tx,
  run: ActiveRun,
  { candidate, judgment, now }: { candidate: StoredCandidate; judgment: Judgment; now: Date },
): Promise<boolean> {
  const { orgId, id: runId } = run;
  const locked = await lockCandidates(tx, orgId, { ids: [candidate.id], state: 'raised' });
  if (locked.size === 0) return false;
  const { hitKey, suppression } = toJudged(candidate, run, judgment);
  const result = await applyLateVerdict(tx, run, toLateVerdict(hitKey, judgment), now);
  if (result?.isDismissed) await reopenOccurrences(tx, orgId, result.hitId);
  if (suppression && !judgment.fallback)
    await upsertSuppressions(tx, run, [
      { ...suppression, hitId: suppression.positive ? (result?.hitId ?? null) : null },
    ]);
  const verdict = judgment.fallback ? null : judgment.verdict;
  await markJudged(tx, { orgId, runId, now }, [
    { id: candidate.id, state: 'judged', verdict, observations: null, hitId: result?.hitId ?? null, caseId: null },
  ]);
  if (!judgment.fallback) addVerdict(run, judgment, candidate.id);
  await writeProgress(tx, run);
  return result?.isDismissed === true;
}

const toLateVerdict = (hitKey: string, { verdict, modelDisagrees, observations, fallback }: Judgment): LateVerdict => ({
  hitKey,
  verdict,
  modelDisagrees,
  observations: listCited(verdict, observations),
  unjudgedReason: fallback?.reason ?? null,
});
