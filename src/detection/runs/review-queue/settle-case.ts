import { acrossOrgs, type Db, inOrg, type Tx } from '../../../platform/db/db.ts';
import type { Author } from '../../../platform/http/caller.ts';
import type { Clock } from '../../../platform/lib/time/clock.ts';
import { emitHitEvents } from '../../hits/hit-events.ts';
import { lockHit, storeStatus } from '../../hits/hit-status.store.ts';
import type { DetectionKey } from '../../scheduling/timeline.ts';
import type { Conclusion, Verdict } from '../../verdicts/verdict.ts';
import {
  findCandidate,
  findHitOf,
  lockReviewed,
  type OpenState,
  type StoredCandidate,
} from '../judging/candidates.store.ts';
import { judgeAsAnalyst, type Judged, type Judgment } from '../judging/judge.ts';
import { listJudgingScopes } from '../judging/judging-scopes.store.ts';
import {
  loadMutes,
  resolveCandidates,
  type SettlingContext,
  toDetectionTexts,
} from '../judging/resolutions/resolve-candidates.ts';
import { storeResolutions } from '../judging/resolutions/store-resolutions.ts';
import {
  type CaseEnd,
  endCase,
  listExpiredAcrossOrgs,
  lockOpenCase,
  type OpenCase,
} from '../judging/review-cases.store.ts';
import { countWrongDismissal, holdRuns, recountHits } from '../run-model/run-results.store.ts';

const batchMax = 200;

/** Why a case ends. `author` is the person who decided, null if the service did. */
export type Settlement = { reason: string; author: Author | null; now: Date };

/** Makes an undecided case a hit, with every window that waits with it. If nobody decided, exceptions made meanwhile apply. */
export async function raiseCase(tx: Tx, one: OpenCase, settlement: Settlement): Promise<void> {
  const { author, now } = settlement;
  const conclusion: Conclusion = author ? 'raise' : 'undecided';
  const candidates = await settleWaiting(tx, one, { now, hasMutes: author === null }, (verdict) => ({
    ...verdict,
    verdict: conclusion,
    triggered: true,
    openQuestion: author ? null : verdict.openQuestion,
  }));
  if (candidates.length === 0) return endOutdated(tx, one, now);
  const hitId = await findHitOf(
    tx,
    one.orgId,
    candidates.map(({ id }) => id),
  );
  await endCase(tx, one.orgId, one.id, { ...settlement, state: author ? 'raised' : 'expired', hitId });
  if (hitId !== null) await finishHit(tx, one, { ...settlement, hitId, candidates });
}

/** Dismisses an undecided case, with every window that waits with it. Later windows are dropped as after a dismissal by the judge. */
export async function dismissCase(tx: Tx, one: OpenCase, settlement: Settlement): Promise<void> {
  const { now } = settlement;
  const candidates = await settleWaiting(tx, one, { now, hasMutes: false }, (verdict) => ({
    ...verdict,
    verdict: 'dismiss',
    triggered: false,
    openQuestion: null,
  }));
  if (candidates.length === 0) return endOutdated(tx, one, now);
  await endCase(tx, one.orgId, one.id, { ...settlement, state: 'dismissed', hitId: null });
}

/**
 * Makes a dismissal that was wrong a hit, with the verdict of the alias that judged it again, or from its facts. The score of the run that dismissed it
 * falls.
 */
export async function raiseDismissal(
  tx: Tx,
  one: OpenCase,
  { second, ...settlement }: Settlement & { second?: Judged },
): Promise<void> {
  const { orgId, id } = one;
  const { now } = settlement;
  const candidate = (await findCandidate(tx, orgId, id))!;
  await holdRuns(tx, orgId, [candidate.runId]);
  const context = await readContext(tx, one, [candidate], false);
  const facts = judgeAsAnalyst(candidate, toDetectionTexts(context.getScope(candidate)));
  const modelDisagrees = candidate.verdict?.summary ?? null;
  const judged: Judgment = { ...(second ?? facts), modelDisagrees, fallback: null };
  const verdict: Verdict = { ...judged.verdict, triggered: true };
  const resolutions = await resolveCandidates([candidate], context, () => ({ ...judged, verdict }));
  const stored = await storeResolutions(tx, { ...one, runId: null, state: 'judged' }, resolutions, now);
  if (stored.length === 0) return endOutdated(tx, one, now);
  const hitId = (await findHitOf(tx, orgId, [id]))!;
  await endCase(tx, orgId, id, { ...settlement, state: 'raised', hitId });
  await countWrongDismissal(tx, orgId, one.judgedRunId);
  await finishHit(tx, one, { ...settlement, hitId, candidates: [candidate] });
}

const endOutdated = (tx: Tx, { orgId, id }: OpenCase, now: Date): Promise<void> =>
  endCase(tx, orgId, id, {
    state: 'outdated',
    reason: 'Its window no longer contains it.',
    author: null,
    hitId: null,
    now,
  } satisfies CaseEnd);

/** Resolves the candidates that wait with a case, by the verdict of each, or that of the case. Returns those that were stored. */
async function settleWaiting(
  tx: Tx,
  one: OpenCase,
  { now, hasMutes }: { now: Date; hasMutes: boolean },
  conclude: (verdict: Verdict) => Verdict,
): Promise<StoredCandidate[]> {
  const own = (await findCandidate(tx, one.orgId, one.id))!;
  const settled: StoredCandidate[] = [];
  for (;;) {
    const waiting = await lockReviewed(tx, one.orgId, one.id, batchMax);
    if (waiting.length === 0) return settled;
    await holdRuns(tx, one.orgId, runsOf(waiting));
    const context = await readContext(tx, one, waiting, hasMutes);
    const resolutions = await resolveCandidates(waiting, context, ({ verdict }) => ({
      verdict: conclude(verdict ?? own.verdict!),
      modelDisagrees: null,
      observations: one.observations,
      trace: null,
      fallback: null,
    }));
    const detection: DetectionKey & { runId: null; state: OpenState } = { ...one, runId: null, state: 'review' };
    await storeResolutions(tx, detection, resolutions, now);
    settled.push(...waiting);
  }
}

const runsOf = (candidates: readonly StoredCandidate[]): string[] => [...new Set(candidates.map(({ runId }) => runId))];

/** Returns the scopes of the runs that found candidates. With `hasMutes`, also the exceptions and lists that mute them. */
async function readContext(
  tx: Tx,
  key: DetectionKey,
  candidates: readonly StoredCandidate[],
  hasMutes: boolean,
): Promise<SettlingContext> {
  const scopes = await listJudgingScopes(tx, key, runsOf(candidates));
  const listNames = [...scopes.values()].flatMap(({ definition }) => definition.tuning?.allowLists ?? []);
  const mutes = hasMutes
    ? await loadMutes(tx, key, { listNames: [...new Set(listNames)], candidates })
    : { findException: () => undefined, findAllowList: () => undefined };
  return { getScope: ({ runId }) => scopes.get(runId)!, known: new Map(), ...mutes };
}

/** Counts a hit that came later in the runs of its windows. Who raised it, and why, goes to its history, and opens it again if it was reviewed. */
async function finishHit(
  tx: Tx,
  { orgId }: DetectionKey,
  { hitId, candidates, author, reason, now }: Settlement & { hitId: string; candidates: readonly StoredCandidate[] },
): Promise<void> {
  await recountHits(tx, orgId, runsOf(candidates));
  const hit = author && (await lockHit(tx, orgId, hitId));
  if (!hit) return;
  await storeStatus(tx, orgId, hit, { to: 'open', reason, author, now });
  if (hit.status !== 'open') await emitHitEvents(tx, orgId, [hitId]);
}

const casesMax = 50;

/**
 * Makes hits of undecided cases that nobody decided in time, and ends audited dismissals that nobody looked at. Each case is one transaction, which
 * locks it: whatever stops in between, each becomes one hit. Returns whether there were any. At most 50 at a time.
 */
export async function expireCasesAcrossOrgs({ db, clock }: { db: Db; clock: Clock }): Promise<boolean> {
  const now = clock();
  const expired = await acrossOrgs(db, (tx) => listExpiredAcrossOrgs(tx, now, casesMax));
  for (const { orgId, id } of expired)
    await inOrg(db, orgId, async (tx) => {
      const one = await lockOpenCase(tx, orgId, id);
      if (!one) return;
      if (one.kind === 'undecided') await raiseCase(tx, one, { reason: 'Nobody decided in time.', author: null, now });
      else
        await endCase(tx, orgId, id, {
          state: 'expired',
          reason: 'Nobody looked at it in time.',
          author: null,
          hitId: null,
          now,
        });
    });
  return expired.length > 0;
}
