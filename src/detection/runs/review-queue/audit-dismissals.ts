import { acrossOrgs, inOrg, type Db } from '../../../platform/db/db.ts';
import { runLoop } from '../../../platform/lib/concurrency/loop.ts';
import type { Logger } from '../../../platform/lib/logging/logger.ts';
import type { Clock } from '../../../platform/lib/time/clock.ts';
import type { Models } from '../../../platform/models/models.ts';
import { findDetectionAlias } from '../../detections/detections.store.ts';
import { readAgentSettings } from '../../detections/agent-settings/agent-settings.store.ts';
import { findCandidate } from '../judging/candidates.store.ts';
import { verifierAlias } from '../judging/model/model-judge.ts';
import { endCase, lockOpenCase } from '../judging/review-cases.store.ts';
import { createTrialJudge } from '../judging/trial-judge.ts';
import { openReplay, type ReplayDeps } from '../reviews/replay-run.ts';
import {
  claimAuditAcrossOrgs,
  listUnsampledDaysAcrossOrgs,
  sampleDay,
  storeSecondVerdict,
  type WaitingAudit,
} from './audit.store.ts';
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
export const findOtherVerifier = (models: Models | undefined, alias: string | undefined): string | null =>
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
