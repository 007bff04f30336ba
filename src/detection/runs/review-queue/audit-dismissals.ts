import { acrossOrgs, type Db, inOrg } from '../../../platform/db/db.ts';
import type { Caller } from '../../../platform/http/caller.ts';
import { runLoop } from '../../../platform/lib/concurrency/loop.ts';
import type { Logger } from '../../../platform/lib/logging/logger.ts';
import type { Clock } from '../../../platform/lib/time/clock.ts';
import type { Models } from '../../../platform/models/models.ts';
import { readAgentSettings } from '../../detections/agent-settings/agent-settings.store.ts';
import { findDetectionAlias } from '../../detections/detections.store.ts';
import { findCandidate } from '../judging/candidates.store.ts';
import { verifierAlias } from '../judging/model/model-judge.ts';
import { endCase, lockOpenCase } from '../judging/review-cases.store.ts';
import { createTrialJudge } from '../judging/trial-judge.ts';
import { openReplay, type ReplayDeps } from '../reviews/replay-run.ts';
import { getDetectionState } from '../run-model/runs.store.ts';
import {
  type AuditedGroup,
  claimAuditAcrossOrgs,
  listUnsampledDaysAcrossOrgs,
  readAudit,
  sampleDay,
  storeSecondVerdict,
  type WaitingAudit,
} from './audit.store.ts';
import type { Dismissals } from './review-queue.schema.ts';
import { raiseDismissal } from './settle-case.ts';

export type AuditDeps = ReplayDeps & { log: Logger };

const daysMax = 20;
/** Dismissals of a detection that are audited per day, whatever its share. */
const sampledMax = 100;
/** Less than the time for which a dismissal is claimed. */
const judgeMsMax = 240_000;
const dayMs = 86_400_000;

/** Samples the dismissals of the days that have ended, and lets another alias judge them again, until `signal` aborts. */
export function auditLoop(deps: AuditDeps, signal: AbortSignal): Promise<void> {
  let sampledOn = 0;
  return runLoop({ name: 'audit', idleMs: 30_000, signal, log: deps.log }, async () => {
    const day = Math.floor(deps.clock().getTime() / dayMs);
    if (day !== sampledOn && !(await sampleDismissalsAcrossOrgs(deps))) sampledOn = day;
    return auditNext(deps, signal);
  });
}

/** Samples the dismissals of ended days. Each day is one transaction, and sampled once. Returns whether there were any. */
export async function sampleDismissalsAcrossOrgs({
  db,
  clock,
  models,
}: {
  db: Db;
  clock: Clock;
  models?: Models;
}): Promise<boolean> {
  const now = clock();
  const today = new Date(Math.floor(now.getTime() / dayMs) * dayMs);
  const days = await acrossOrgs(db, (tx) => listUnsampledDaysAcrossOrgs(tx, today, daysMax));
  for (const day of days)
    await inOrg(db, day.orgId, async (tx) => {
      const { auditPercent: percent } = await readAgentSettings(tx, day.orgId);
      const alias = await findDetectionAlias(tx, day);
      const isForPeople = findOtherVerifier(models, alias) === null;
      await sampleDay(tx, day, { percent, sampledMax, now, isForPeople });
    });
  return days.length > 0;
}

/** Returns the alias that judges the dismissals of a detection again, or null if there is no other than its own. */
const findOtherVerifier = (models: Models | undefined, alias: string | undefined): string | null =>
  models?.find(verifierAlias) && alias !== verifierAlias ? verifierAlias : null;

/**
 * Lets the alias `verifier` judge the audited dismissal that has waited longest, as a run would, within the budgets. If it dismisses it too, the
 * dismissal was right. If it raises it, the dismissal was wrong. Otherwise a person decides. Returns whether one was waiting.
 */
export async function auditNext(deps: AuditDeps, signal: AbortSignal): Promise<boolean> {
  if (!deps.models?.find(verifierAlias)) return false;
  const waiting = await acrossOrgs(deps.db, (tx) => claimAuditAcrossOrgs(tx, verifierAlias));
  if (!waiting) return false;
  try {
    await judgeAgain(deps, waiting, AbortSignal.any([signal, AbortSignal.timeout(judgeMsMax)]));
  } catch (error) {
    if (signal.aborted) return false;
    deps.log.warn({ caseId: waiting.id, err: error }, 'a dismissal could not be audited');
  }
  return true;
}

async function judgeAgain(deps: AuditDeps, waiting: WaitingAudit, signal: AbortSignal): Promise<void> {
  const { orgId, id } = waiting;
  const { run, candidate } = await inOrg(deps.db, orgId, async (tx) => {
    const found = (await findCandidate(tx, orgId, id))!;
    const request = { modelAlias: verifierAlias };
    return { candidate: found, run: await openReplay(tx, deps, { orgId, id: found.runId, request }) };
  });
  const second = await createTrialJudge(deps, run).judge(candidate, signal);
  await inOrg(deps.db, orgId, async (tx) => {
    const one = await lockOpenCase(tx, orgId, id);
    if (!one) return;
    await storeSecondVerdict(tx, waiting, { alias: verifierAlias, verdict: second.verdict });
    const end = { author: null, now: deps.clock() };
    switch (second.verdict.verdict) {
      case 'dismiss':
        return endCase(tx, orgId, id, {
          ...end,
          state: 'dismissed',
          reason: 'Another alias dismisses it too.',
          hitId: null,
        });
      case 'raise':
        return raiseDismissal(tx, one, { ...end, reason: 'Another alias raises it.', second });
      case 'undecided':
        return undefined;
    }
  });
}

const days = 90;
/** The share of wrong dismissals is below the bound with this probability. */
const boundConfidence = 0.95;
const halvings = 60;

/** Returns how many dismissals of a detection the audit found wrong, and the bound that this allows. */
export async function getDismissals(
  { db, clock, models }: { db: Db; clock: Clock; models?: Models },
  { orgId }: Caller,
  detectionId: string,
): Promise<Dismissals> {
  const since = new Date(clock().getTime() - days * dayMs);
  const { groups, alias, ...counts } = await inOrg(db, orgId, async (tx) => {
    await getDetectionState(tx, orgId, detectionId);
    const key = { orgId, detectionId };
    return { ...(await readAudit(tx, key, since)), alias: await findDetectionAlias(tx, key) };
  });
  const audited = groups.reduce((sum, group) => sum + group.audited, 0);
  const wrong = groups.reduce((sum, group) => sum + group.wrong, 0);
  const bound = boundWrongShare(groups);
  // Rounded up, so that the bound is never better than the sample allows.
  const boundPercent = bound === null ? null : Math.min(100, Math.ceil(bound * 1000 - 1e-9) / 10);
  const confidencePercent = boundConfidence * 100;
  return {
    ...counts,
    days,
    audited,
    wrong,
    boundPercent,
    confidencePercent,
    verifiedBy: findOtherVerifier(models, alias),
    statement:
      boundPercent === null
        ? 'No dismissal has been audited.'
        : `${wrong} wrong of ${audited} audited: at most ${boundPercent} % of dismissals, ${confidencePercent} %`,
  };
}

/**
 * Returns the upper bound of the share of wrong dismissals, 0-1, or null without an audited one. It is the one-sided Clopper-Pearson bound (Clopper and
 * Pearson, Biometrika 26, 1934), which is exact for a binomial count. Audited dismissals that stand for different numbers of others count with their
 * weight, and the bound is that of the effective sample size (Korn and Graubard, Survey Methodology 24, 1998), rounded against the detection.
 */
export function boundWrongShare(groups: readonly AuditedGroup[]): number | null {
  const sum = (of: (group: AuditedGroup) => number): number => groups.reduce((total, group) => total + of(group), 0);
  const weights = sum(({ weight, audited }) => weight * audited);
  if (weights === 0) return null;
  const effective = weights ** 2 / sum(({ weight, audited }) => weight ** 2 * audited);
  const wrong = (effective * sum((group) => group.weight * group.wrong)) / weights;
  // Beyond the rounding of floating-point numbers.
  const n = Math.floor(effective + 1e-9);
  return upperBound(Math.min(n, Math.ceil(wrong - 1e-9)), n);
}

/** Returns the largest share with which at most `wrong` of `n` are found with a probability of at least 1 - `boundConfidence`. */
export function upperBound(wrong: number, n: number): number {
  if (wrong >= n) return 1;
  let [low, high] = [wrong / n, 1];
  for (let step = 0; step < halvings; step++) {
    const middle = (low + high) / 2;
    if (probabilityUpTo(wrong, n, middle) > 1 - boundConfidence) low = middle;
    else high = middle;
  }
  return high;
}

/** Returns the probability of at most `most` successes in `n` trials. */
function probabilityUpTo(most: number, n: number, share: number): number {
  let logTerm = n * Math.log1p(-share);
  let probability = Math.exp(logTerm);
  for (let k = 1; k <= most; k++) {
    logTerm += Math.log((n - k + 1) / k) + Math.log(share) - Math.log1p(-share);
    probability += Math.exp(logTerm);
  }
  return probability;
}
