import { inOrgWithCachedPlans, type Db, type Tx } from '../../../platform/db/db.ts';
import type { Clock } from '../../../platform/lib/clock.ts';
import { listActiveExceptions } from '../../detections/exceptions/exceptions.store.ts';
import { fenceRun } from '../../scheduling/queue/run-fence.ts';
import type { VerdictStats } from '../../verdicts/model/model-score.ts';
import type { Verdict } from '../../verdicts/verdict.ts';
import type { ActiveRun } from '../execution/active-run.ts';
import { writeProgress } from '../execution/progress.store.ts';
import { addWarning, timePhase } from '../execution/run-progress.ts';
import { inRunTransaction } from '../execution/run-transaction.ts';
import { findSuppressions, listPendingCandidates, storeVerdict, type StoredCandidate } from './candidates.store.ts';
import type { Judge } from './judge.ts';
import {
  findSuppressionKey,
  resolveCandidates,
  verdictWaitMaxMs,
  type JudgedResolution,
  type Resolution,
} from './resolve-candidates.ts';
import { storeResolutions } from './store-resolutions.ts';

const instantBatchMax = 50;
/** Candidates of one window that one run judges. The next run continues. */
const perWindowMax = 100;
const entitiesMax = 200;
const evidenceMax = 20;

/** A verdict that costs something becomes a hit immediately, so that a failure of the next one does not delay it. */
const batchSize = (judge: Judge): number => (judge.instant ? instantBatchMax : 1);

/** `judgedByWindow` counts the candidates that this run has judged, by the start of their window in milliseconds. */
export type JudgingSession = { judge: Judge; signal: AbortSignal; judgedByWindow: Map<number, number> };

/** Judges the pending candidates of a run's detection, oldest first. Each batch is stored in a fenced transaction. */
export async function judgeCandidates(
  deps: { db: Db; clock: Clock },
  run: ActiveRun,
  session: JudgingSession,
): Promise<void> {
  await timePhase(run.progress, 'judge', async () => {
    while (await judgeBatch(deps, run, session));
  });
}

/** Returns whether more candidates may be pending. */
async function judgeBatch(deps: { db: Db; clock: Clock }, run: ActiveRun, session: JudgingSession): Promise<boolean> {
  session.signal.throwIfAborted();
  const now = deps.clock();
  const { isFull, batch, known, exceptions } = await inOrgWithCachedPlans(deps.db, run.orgId, (tx) =>
    readBatch(tx, run, session, now),
  );
  if (batch.length === 0) return isFull;
  const resolutions = await resolveCandidates(batch, {
    getScope: () => run,
    known,
    exceptions,
    now,
    getVerdict: (candidate) => judgeCandidate(deps, run, session, candidate),
  });
  await inRunTransaction(deps.db, run, async (tx) => {
    const stored = await storeResolutions(tx, { ...run, runId: run.id }, resolutions, now);
    if (stored.length === 0) return;
    addToProgress(run, stored);
    await writeProgress(tx, run);
  });
  return isFull;
}

async function readBatch(tx: Tx, run: ActiveRun, { judge, judgedByWindow }: JudgingSession, now: Date) {
  const exhaustedWindows = [...judgedByWindow].filter(([, n]) => n >= perWindowMax).map(([from]) => new Date(from));
  const { orgId, detectionId, id: runId } = run;
  const overdue = new Date(now.getTime() - verdictWaitMaxMs);
  const limit = batchSize(judge);
  const listed = await listPendingCandidates(
    tx,
    { orgId, detectionId, runId, ownRunOnly: run.trigger === 'manual' },
    { exhaustedWindows, overdue, limit },
  );
  const batch = listed.filter((candidate) => {
    // Overdue candidates need no judge, so no limit applies to them.
    if (candidate.createdAt < overdue) return true;
    const window = candidate.windowFrom.getTime();
    const n = (judgedByWindow.get(window) ?? 0) + 1;
    judgedByWindow.set(window, n);
    return n <= perWindowMax;
  });
  const keys = batch.flatMap((candidate) => findSuppressionKey(run, candidate) ?? []);
  return {
    isFull: listed.length === limit,
    batch,
    exceptions: await listActiveExceptions(tx, run, now),
    known: keys.length > 0 ? await findSuppressions(tx, run, keys) : new Map<string, never>(),
  };
}

async function judgeCandidate(
  deps: { db: Db; clock: Clock },
  run: ActiveRun,
  { judge, signal }: JudgingSession,
  candidate: StoredCandidate,
): Promise<Verdict> {
  signal.throwIfAborted();
  const verdict = await judge.judge(candidate, signal);
  if (judge.instant) return verdict;
  await inOrgWithCachedPlans(deps.db, run.orgId, async (tx) => {
    await fenceRun(tx, run.claim);
    await storeVerdict(tx, run.orgId, candidate.id, verdict);
  });
  return verdict;
}

function addToProgress({ progress }: ActiveRun, resolutions: Resolution[]): void {
  const { suppressed } = progress;
  for (const resolution of resolutions) {
    switch (resolution.outcome) {
      case 'excepted':
        suppressed[resolution.by === 'snooze' ? 'snoozed' : 'exceptions'] += 1;
        break;
      case 'negative':
      case 'occurrence':
        suppressed.known += 1;
        break;
      case 'judged':
        addVerdictStats(progress.judging, resolution);
        if (progress.entities.length < entitiesMax) progress.entities.push(resolution.verified.verdict);
        if (resolution.verified.struck.length > 0)
          addWarning(
            progress,
            'claims_struck',
            'Parts of a verdict were removed because the rows do not support them.',
          );
    }
  }
}

/** Adds a model's verdict to the figures that score the model. Verdicts of the analyst do not count. */
function addVerdictStats(stats: VerdictStats, { unverified, verified }: JudgedResolution): void {
  if (!unverified.trace) return;
  const { repaired, toolCalls, toolFaults, instructions } = unverified.trace;
  const struckSentences = verified.struck.filter(({ where }) => where !== 'evidence').length;
  stats.verdicts += 1;
  stats.cited += Math.min(unverified.evidence.length, evidenceMax) + struckSentences;
  stats.struck += verified.struck.length;
  stats.repaired += repaired ? 1 : 0;
  stats.toolCalls += toolCalls;
  stats.toolFaults += toolFaults;
  if (instructions === 0) return;
  stats.instructed += 1;
  if (verified.struck.length > 0 || toolFaults > 0 || verified.modelDisagrees !== null) stats.followed += 1;
}
