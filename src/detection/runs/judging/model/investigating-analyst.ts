import { askFollowUps, followUpTools } from '../../../verdicts/follow-ups/ask-follow-ups.ts';
import { untilAborted } from '../../../../platform/lib/concurrency/shared-calls.ts';
import { enrichTool } from '../../../tools/enrich.ts';
import type { QuerySources } from '../../../siem/connector.ts';
import type { ActiveRun } from '../../run-model/active-run.ts';
import { inRunTransaction, insertStep } from '../../run-model/run-results.store.ts';
import { addWarning } from '../../run-model/run-progress.ts';
import { aboutCase, createAnalyst, type Judge, type Judged, type OpenCase } from '../judge.ts';
import { bindTools, type BindToolsDeps } from './bind-tools.ts';

/** Candidates of an attempt about which questions are asked, the most severe of each window first. */
const candidatesMax = 5;
/** Time for the questions of an attempt, because they are asked while the run is examined. */
const timeMaxMs = 5_000;

/**
 * Creates the built-in analyst that asks questions of the data about its candidates, with read-only tools, and cites what it finds. It asks about five
 * candidates and for five seconds in one attempt of a run. The run then has a warning, and the other candidates are judged by their rows and facts. A
 * failure of a tool leaves a question open and never fails the run.
 */
export function createInvestigatingAnalyst(deps: BindToolsDeps, run: ActiveRun): Judge {
  const analyst = createAnalyst(run.definition);
  let candidatesLeft = candidatesMax;
  let msLeft = timeMaxMs;
  let sources: Promise<QuerySources> | undefined;
  return {
    ...analyst,
    judge: async (candidate, signal) => {
      const judged = await analyst.judge(candidate, signal);
      if (candidatesLeft === 0 || msLeft <= 0) {
        addWarning(run.progress, 'follow_ups_limited', limited);
        return judged;
      }
      candidatesLeft -= 1;
      const startedAt = performance.now();
      sources ??= findSources(run, signal);
      const timed = AbortSignal.any([signal, AbortSignal.timeout(Math.ceil(msLeft))]);
      try {
        return await followUp(deps, run, {
          judged,
          candidate,
          sources: await untilAborted(sources, timed),
          signal: timed,
        });
      } catch (error) {
        signal.throwIfAborted();
        if (!timed.aborted) throw error;
        return judged;
      } finally {
        msLeft -= performance.now() - startedAt;
      }
    },
  };
}

const limited = `The built-in analyst asks its questions about at most ${candidatesMax} candidates and for ${timeMaxMs / 1000} seconds of an attempt. The other candidates are judged by their rows and facts alone.`;

/** Returns what the detection's query reads, as far as it can be told. */
async function findSources({ connection, definition }: ActiveRun, signal: AbortSignal): Promise<QuerySources> {
  const sources = await connection.sourcesOf?.(definition.detectionQuery, signal).catch(() => undefined);
  return sources ?? { datasets: [], fields: new Map() };
}

type FollowUpInput = { judged: Judged; candidate: OpenCase; sources: QuerySources; signal: AbortSignal };

async function followUp(
  deps: BindToolsDeps,
  run: ActiveRun,
  { judged, candidate, sources, signal }: FollowUpInput,
): Promise<Judged> {
  const tools = await bindTools(
    deps,
    run,
    candidate,
    (await deps.enrich?.isOn(run.orgId)) ? [...followUpTools, enrichTool] : followUpTools,
  );
  const { steps, ...found } = await askFollowUps(judged.verdict, candidate, {
    tools,
    sources,
    // Only events of the embedded log store have an ID by which they can be found.
    hasEventIds: run.connection.id === undefined,
    signal,
  });
  await inRunTransaction(deps.db, run, async (tx) => {
    for (const step of steps) await insertStep(tx, run.claim, { ...step, ...aboutCase(candidate) });
  });
  return { ...judged, ...found };
}
