import { acrossOrgs, inOrg } from '../../platform/db/db.ts';
import { runLoops } from '../../platform/lib/concurrency/loop.ts';
import type { Logger } from '../../platform/lib/logging/logger.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import { emitEvents } from '../../platform/notifications/emit-events.ts';
import { SiemError } from '../../detection/siem/connector.ts';
import { askQuestion, type Answer, type AskDeps, type AskedQuestion } from './ask-question.ts';
import { toHuntRun } from './hunts.ts';
import {
  claimRunAcrossOrgs,
  findHuntRun,
  finishRun,
  queueDueRunsAcrossOrgs,
  releaseRun,
  type ClaimedRun,
} from './hunt-runs.store.ts';

export type RunHuntDeps = AskDeps & { clock: Clock; log: Logger };

const idleMs = 2_000;
const minuteMs = 60_000;
const runMs = 15 * minuteMs;
/** Longer than a run may take, so that nobody repeats one that is under way. */
const leaseMs = 20 * minuteMs;
const attemptsMax = 3;
/** Of one process, so that a long hunt does not delay those of other organizations. */
const concurrentHunts = 3;
const nothing: Answer = { findings: [], queries: [], queriesSent: 0, warnings: [], isComplete: false };

/** Runs hunts that are due or asked for, until the signal aborts. */
export const huntLoop = (deps: RunHuntDeps, signal: AbortSignal): Promise<void> =>
  runLoops(concurrentHunts, { name: 'hunts', idleMs, signal, log: deps.log }, () => runNextHunt(deps, signal));

/** Runs the hunt that waits longest. Returns false if none waits. */
export async function runNextHunt(deps: RunHuntDeps, signal: AbortSignal): Promise<boolean> {
  const now = deps.clock();
  const run = await acrossOrgs(deps.db, async (tx) => {
    await queueDueRunsAcrossOrgs(tx, now);
    return claimRunAcrossOrgs(tx, now, new Date(now.getTime() + leaseMs));
  });
  if (!run) return false;
  const began = performance.now();
  const outcome = await ask(deps, run, signal);
  if (outcome === 'interrupted') {
    await inOrg(deps.db, run.orgId, (tx) => releaseRun(tx, run));
    return false;
  }
  await storeOutcome(deps, run, { ...outcome, ms: Math.round(performance.now() - began) });
  return true;
}

type Outcome = Answer & { failure: string | null };

async function ask(deps: RunHuntDeps, run: ClaimedRun, signal: AbortSignal): Promise<Outcome | 'interrupted'> {
  const { orgId, asked, fromAt: from, toAt: to, attempts } = run;
  if (attempts > attemptsMax)
    return { ...nothing, failure: `The service stopped ${attemptsMax} times while this run was under way.` };
  const tooSlow = AbortSignal.timeout(runMs);
  const question = {
    ...(JSON.parse(asked) as AskedQuestion),
    orgId,
    from,
    to,
    signal: AbortSignal.any([signal, tooSlow]),
  };
  try {
    return { ...(await askQuestion(deps, question)), failure: null };
  } catch (error) {
    if (signal.aborted) return 'interrupted';
    if (tooSlow.aborted)
      return {
        ...nothing,
        failure: `The run took longer than ${runMs / minuteMs} minutes. Ask for less, or a shorter span.`,
      };
    if (error instanceof SiemError) return { ...nothing, failure: error.failure.message.slice(0, 1_000) };
    deps.log.error({ err: error, huntRun: run.id }, 'hunt failed');
    return { ...nothing, failure: 'The run failed. See the log of the service.' };
  }
}

/** Stores the outcome of a run, and emits an event if a scheduled one found something new. */
async function storeOutcome(deps: RunHuntDeps, run: ClaimedRun, outcome: Outcome & { ms: number }): Promise<void> {
  const { orgId, id, huntId, huntName } = run;
  await inOrg(deps.db, orgId, async (tx) => {
    const finished = await finishRun(tx, run, { ...outcome, now: deps.clock() });
    if (!finished || !run.isScheduled || finished.newFindings === 0) return;
    await emitEvents(tx, [orgId], ['hunt.found'], async () => {
      const { queries: _queries, question: _question, ...stored } = toHuntRun((await findHuntRun(tx, orgId, id))!);
      const data = { organizationId: orgId, name: huntName, url: `/console/hunts/${huntId}`, ...stored };
      return [{ orgId, type: 'hunt.found', resourceId: id, revision: 1, data }];
    });
  });
}
