import type { Candidate } from '../analysis/candidate.ts';
import { isSeverityAtLeast } from '../analysis/severity.ts';
import type { ReviewedHit } from '../hits/hit-status.store.ts';
import type { TimeRange } from '../scheduling/timeline.ts';
import type { TestSubject } from './run-test-case.ts';
import { collectHitKeys, openTrialRun, simulateTimeRange, type TrialDeps } from './simulate-time-range.ts';
import type { SimulationResult } from './simulate.ts';
import type { Backtest } from './testing.schema.ts';
import { findUnusedTuning, readTuning } from '../analysis/category-tuning.ts';
import { getCategory } from '../analysis/registry.ts';
import type { TuningDefaults, TuningField } from '../analysis/tuning-fields.ts';
import { sensitivities, Tuning } from '../analysis/tuning.schema.ts';

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

type Tuned = { detectionCategory: string; tuning?: Tuning | undefined };
type Facts = Candidate['facts'];

/**
 * Returns the changes to try, the smallest first: a lower sensitivity, then fewer peers that make a value usual, then a limit just beyond the
 * noise for each number that the category compares. `mayRemain` candidates of the noise may pass a limit.
 */
export function listTuningChanges(
  { detectionCategory: category, tuning = {} }: Tuned,
  noise: readonly Pick<Candidate, 'facts'>[],
  mayRemain: number,
): Tuning[] {
  const { sensitivity = 'medium', peers } = tuning;
  const { defaults } = getCategory(category).tuning;
  const nextOf = (numberOf: (facts: Facts) => number): number =>
    noise.map(({ facts }) => numberOf(facts)).toSorted((a, b) => b - a)[mayRemain] ?? 0;
  const count = Math.floor(nextOf((facts) => Number(facts['count']))) + 1;
  const increase = Math.floor(nextOf((facts) => Number(facts['count']) - Number(facts['median']))) + 1;
  // The quickest sequences may remain.
  const quickest = -nextOf((facts) => -Number(facts['minutes']));
  const changes: Tuning[] = [
    ...sensitivities
      .slice(0, sensitivities.indexOf(sensitivity))
      .toReversed()
      .map((lower) => ({ sensitivity: lower })),
    { peers: { ...peers, minimum: 1 } },
    { minimumIncrease: increase },
    { sequenceHours: (Math.ceil(quickest / 6) - 1) / 10 },
    { minimumCount: count },
  ];
  return changes.filter(
    (change) =>
      Tuning.safeParse(change).success &&
      findUnusedTuning(change, category) === undefined &&
      isStricter(change, tuning, defaults),
  );
}

/** Returns false if the limit of a change already holds. `defaults` are those of the category. */
function isStricter(
  { minimumCount, minimumIncrease, sequenceHours, peers }: Tuning,
  present: Tuning,
  defaults: TuningDefaults,
): boolean {
  const holds = (field: TuningField): number => Number(readTuning(present, field) ?? defaults[field] ?? 1);
  if (minimumCount !== undefined) return minimumCount > holds('minimumCount');
  if (minimumIncrease !== undefined) return minimumIncrease > holds('minimumIncrease');
  if (sequenceHours !== undefined) return sequenceHours < holds('sequenceHours');
  return peers === undefined || holds('peers.minimum') !== 1;
}
