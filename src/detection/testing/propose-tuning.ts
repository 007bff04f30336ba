import { type Candidate, isSeverityAtLeast } from '../analysis/candidate.ts';
import type { ReviewedHit } from '../hits/hit-status.store.ts';
import type { TimeRange } from '../scheduling/timeline.ts';
import type { TestSubject } from './run-test-case.ts';
import { collectHitKeys, openTrialRun, simulateTimeRange, type TrialDeps } from './simulate-time-range.ts';
import type { SimulationResult } from './simulate.ts';
import type { Backtest } from './testing.schema.ts';
import { readTuning } from '../analysis/category-tuning.ts';
import { getCategory } from '../analysis/registry.ts';
import type { TuningField } from '../analysis/category.ts';
import { sensitivities, Tuning, type Sensitivity } from '../analysis/tuning.schema.ts';

const weekMs = 7 * 86_400_000;
/** A detection that raises fewer candidates of severity medium or above needs no other tuning. */
const perWeekMax = 1;

type Proposal = NonNullable<Backtest['proposal']>;
type BacktestResult = {
  result: SimulationResult;
  range: TimeRange;
  reviewed: readonly ReviewedHit[];
  now: Date;
  stopped: AbortSignal;
};

/**
 * Returns the smallest change of the tuning with which a detection raises less than one candidate of severity medium or above a week,
 * true positives aside, and still finds every reviewed true positive that it found before. Returns null if the detection is quiet enough or no change suffices.
 */
export async function proposeTuning(
  deps: TrialDeps,
  { definition, ...subject }: TestSubject,
  { result, range, reviewed, now, stopped }: BacktestResult,
): Promise<Proposal | null> {
  const weeks = Math.max((range.to.getTime() - range.from.getTime()) / weekMs, 1);
  const before = listSevere(result, reviewed).length / weeks;
  if (before < perWeekMax || !result.complete) return null;
  const keys = listTruePositives(result, reviewed);
  // Fewer than `perWeekMax` a week.
  const mayRemain = Math.ceil(perWeekMax * weeks) - 1;
  for (const change of listTuningChanges(definition, listSevere(result, reviewed), mayRemain)) {
    const tuning = { ...definition.tuning, ...change };
    if (stopped.aborted) return null;
    const run = await openTrialRun(
      deps,
      { ...subject, definition: { ...definition, tuning, modelAlias: 'analyst' } },
      now,
    );
    const tuned = await simulateTimeRange(deps, run, { range, now, stopped });
    const after = listSevere(tuned, reviewed).length / weeks;
    const kept = listTruePositives(tuned, reviewed);
    if (!tuned.complete || after >= perWeekMax || keys.some((key) => !kept.includes(key))) continue;
    return {
      tuning,
      candidatesPerWeekBefore: round(before),
      candidatesPerWeekAfter: round(after),
      truePositivesKept: kept.length,
    };
  }
  return null;
}

/** Returns the candidates of severity medium or above, without those behind reviewed true positives. */
function listSevere({ windows }: SimulationResult, reviewed: readonly ReviewedHit[]): Candidate[] {
  const truePositives = new Set(reviewed.filter(({ status }) => status === 'true_positive').map(({ key }) => key));
  return windows
    .flatMap(({ resolutions }) => resolutions)
    .filter(({ outcome }) => outcome !== 'allowed')
    .filter((resolution) => resolution.outcome !== 'judged' || !truePositives.has(resolution.hitKey))
    .map(({ candidate }) => candidate)
    .filter(({ severity }) => isSeverityAtLeast(severity, 'medium'));
}

function listTruePositives({ windows }: SimulationResult, reviewed: readonly ReviewedHit[]): string[] {
  const keys = collectHitKeys(windows.flatMap(({ resolutions }) => resolutions));
  return reviewed.filter(({ key, status }) => status === 'true_positive' && keys.has(key)).map(({ key }) => key);
}

const round = (number: number): number => Math.round(10 * number) / 10;

/** The numbers of the first candidate that may not remain. */
type Noise = { count: number; increase: number; minutes: number };

/** The stricter values of each field to try, smallest change first. `present` is the value that applies now. */
const stricterValues: Record<TuningField, (present: unknown, noise: Noise) => unknown[]> = {
  sensitivity: (present) => sensitivities.slice(0, sensitivities.indexOf(present as Sensitivity)).toReversed(),
  'peers.minimum': (present) => [1].filter((minimum) => minimum !== present),
  minimumIncrease: (present, { increase }) => [increase + 1].filter((minimum) => minimum > Number(present)),
  sequenceHours: (present, { minutes }) =>
    [(Math.ceil(minutes / 6) - 1) / 10].filter((hours) => hours < Number(present)),
  minimumCount: (present, { count }) => [count + 1].filter((minimum) => minimum > Number(present ?? 1)),
  historyDays: () => [],
  minimumSpeedKmh: () => [],
  'peers.by': () => [],
};

/**
 * Returns the changes to try, the smallest first: a lower sensitivity, then fewer peers that make a value usual, then a limit just beyond the
 * noise for each number that the category compares. `mayRemain` candidates of the noise may pass a limit.
 */
export function listTuningChanges(
  { detectionCategory, tuning = {} }: { detectionCategory: string; tuning?: Tuning | undefined },
  candidates: readonly Pick<Candidate, 'facts'>[],
  mayRemain: number,
): Tuning[] {
  const { defaults } = getCategory(detectionCategory).tuning;
  const nextOf = (numberOf: (facts: Candidate['facts']) => number): number =>
    candidates.map(({ facts }) => numberOf(facts)).toSorted((a, b) => b - a)[mayRemain] ?? 0;
  const noise = {
    count: Math.floor(nextOf(({ count }) => Number(count))),
    increase: Math.floor(nextOf(({ count, median }) => Number(count) - Number(median))),
    // The quickest sequences may remain.
    minutes: -nextOf(({ minutes }) => -Number(minutes)),
  };
  const fields = (Object.keys(stricterValues) as TuningField[]).filter((field) => field in defaults);
  return fields.flatMap((field) =>
    stricterValues[field](readTuning(tuning, field) ?? defaults[field], noise)
      .map((value) => (field === 'peers.minimum' ? { peers: { ...tuning.peers, minimum: value } } : { [field]: value }))
      .flatMap((change) => Tuning.safeParse(change).data ?? []),
  );
}
