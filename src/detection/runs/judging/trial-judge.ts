import { createSpendMeter } from '../../../platform/models/spend-meter.ts';
import { ModelError } from '../../../platform/models/model-error.ts';
import type { Candidate } from '../../analysis/candidate.ts';
import type { ActiveRun } from '../run-model/active-run.ts';
import { toRunFailure } from '../run-model/run-failure.ts';
import { type Fallback, type Judge, judgeByFacts, judgeCandidate, type Judgment } from './judge.ts';
import { addVerdict, toFallback, warnAboutFallback } from './judging-session.ts';
import { toDetectionTexts } from './resolutions/resolve-candidates.ts';
import { createJudgeWithMeter, type JudgeDeps } from './model/model-judge.ts';
import { budgetsOf } from './model/run-spend.ts';

/**
 * Creates the judge of a trial run: the same model and budgets as a real run, but its steps are not stored and tools that send
 * anything are simulated. Sets the run's model and mode. The run also counts its spend.
 */
export function createTrialJudge(deps: JudgeDeps, run: ActiveRun): Judge {
  run.definition = { ...run.definition, mode: 'sandbox' };
  const judge = createJudgeWithMeter(deps, run, (model) =>
    createSpendMeter(deps, { spender: run, overrides: budgetsOf(run), model }),
  );
  run.model = judge.model;
  return judge;
}

/**
 * Returns a function that judges the candidates of a trial run one after the other, as a real run does: a candidate without a
 * usable verdict, and every candidate beyond the budget, falls back to its facts. Any other failure is thrown.
 */
export function createTrialJudging(
  run: ActiveRun,
  judge: Judge,
  signal: AbortSignal,
): (candidate: Candidate) => Promise<Judgment> {
  const detection = toDetectionTexts(run);
  let exhausted: Fallback | undefined;
  return async (candidate) => {
    const judgment = exhausted
      ? judgeByFacts(candidate, detection, exhausted)
      : await judgeCandidate(judge, candidate, detection, signal).catch((error: unknown) => {
          if (!(error instanceof ModelError) || error.failure.kind !== 'budget_exceeded') throw error;
          exhausted = toFallback(toRunFailure(error), false);
          return judgeByFacts(candidate, detection, exhausted);
        });
    addVerdict(run, judgment);
    if (judgment.fallback) warnAboutFallback(run, judgment.fallback);
    return judgment;
  };
}
