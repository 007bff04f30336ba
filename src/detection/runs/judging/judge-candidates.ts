import { inOrgByKey, type Tx } from '../../../platform/db/db.ts';
import { listStanding } from '../../detections/exceptions/exceptions.store.ts';
import { fence } from '../../scheduling/run-fence.ts';
import { findSuppressions, listWaitingCandidates, storeVerdict, type StoredCandidate } from './candidates.store.ts';
import { noteJudging } from './verdict-stats.ts';
import { decide, keyOf, waitMaxMs, type Decision } from './resolve-candidates.ts';
import type { Judge } from './judge.ts';
import { writeProgress } from '../execution/progress.store.ts';
import { timed, warn, type Run, type RunDeps } from '../run-types.ts';
import { storeDecisions } from './store-decisions.ts';

const batchMax = 50;
/** A verdict that costs something becomes a hit at once, whatever becomes of the next one. */
const sizeOf = (judge: Judge): number => (judge.instant ? batchMax : 1);
/** Candidates of one window that one run judges; the rest waits for the next run. */
const perWindowMax = 100;
const entitiesMax = 200;

/** `judged` counts the candidates of each window that this run has judged. */
export type Judging = { judge: Judge; signal: AbortSignal; judged: Map<number, number> };

/** Judges what waits for this detection, oldest first, batch by batch, each stored in a fenced transaction. */
export async function judgeCandidates(deps: RunDeps, run: Run, judging: Judging): Promise<void> {
  await timed(run.progress, 'judge', async () => {
    while (await judgeBatch(deps, run, judging));
  });
}

async function judgeBatch(deps: RunDeps, run: Run, judging: Judging): Promise<boolean> {
  judging.signal.throwIfAborted();
  const now = deps.clock();
  const { listed, batch, known, exceptions } = await inOrgByKey(deps.db, run.orgId, (tx) =>
    readBatch(tx, run, judging, now),
  );
  const isFull = listed === sizeOf(judging.judge);
  if (batch.length === 0) return isFull;
  const decisions = await decide(batch, {
    scopeOf: () => run,
    known,
    exceptions,
    now,
    verdictOf: (candidate) => verdictOf(deps, run, judging, candidate),
  });
  await inOrgByKey(deps.db, run.orgId, async (tx) => {
    await fence(tx, run.claim);
    const stored = await storeDecisions(tx, { ...run, runId: run.id }, decisions, now);
    if (stored.length === 0) return;
    noteVerdicts(run, stored);
    await writeProgress(tx, run);
  });
  return isFull;
}

async function readBatch(tx: Tx, run: Run, { judge, judged }: Judging, now: Date) {
  const exhausted = [...judged].filter(([, n]) => n >= perWindowMax).map(([at]) => new Date(at));
  const waiting = { orgId: run.orgId, detectionId: run.detectionId, runId: run.id, ownOnly: run.trigger === 'manual' };
  const overdue = new Date(now.getTime() - waitMaxMs);
  const listed = await listWaitingCandidates(tx, waiting, { exhausted, overdue, limit: sizeOf(judge) });
  const batch = listed.filter((candidate) => {
    // What waited too long is settled by its facts, however much of it there is.
    if (candidate.createdAt < overdue) return true;
    const at = candidate.windowFrom.getTime();
    const n = (judged.get(at) ?? 0) + 1;
    judged.set(at, n);
    return n <= perWindowMax;
  });
  const keys = batch.flatMap((candidate) => keyOf(run, candidate) ?? []);
  return {
    listed: listed.length,
    batch,
    exceptions: await listStanding(tx, run, now),
    known: keys.length > 0 ? await findSuppressions(tx, run, keys) : new Map<string, never>(),
  };
}

async function verdictOf(deps: RunDeps, run: Run, { judge, signal }: Judging, candidate: StoredCandidate) {
  signal.throwIfAborted();
  const verdict = await judge.judge(candidate, signal);
  if (judge.instant) return verdict;
  await inOrgByKey(deps.db, run.orgId, async (tx) => {
    await fence(tx, run.claim);
    await storeVerdict(tx, run.orgId, candidate.id, verdict);
  });
  return verdict;
}

function noteVerdicts(run: Run, decisions: Decision[]): void {
  for (const decision of decisions) {
    countSuppressed(run, decision);
    if (decision.outcome !== 'judged') continue;
    noteJudging(run.progress.judging, decision);
    if (run.progress.entities.length < entitiesMax) run.progress.entities.push(decision.verified.verdict);
    if (decision.verified.struck.length > 0) {
      warn(run.progress, 'claims_struck', 'Parts of a verdict that the rows do not bear out were struck.');
    }
  }
}

function countSuppressed({ progress: { suppressed } }: Run, decision: Decision): void {
  if (decision.outcome === 'excepted') suppressed[decision.by === 'snooze' ? 'snoozed' : 'exceptions'] += 1;
  else if (decision.outcome !== 'judged') suppressed.known += 1;
}
