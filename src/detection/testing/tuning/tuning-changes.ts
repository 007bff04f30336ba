import type { Candidate, DetectionCategory } from '../../analysis/candidate.ts';
import { findUnusedTuning } from '../../analysis/tuning/check-tuning.ts';
import { peersMin, sequenceMs } from '../../analysis/tuning/tuning-defaults.ts';
import { sensitivities, Tuning } from '../../analysis/tuning/tuning.schema.ts';

type Tuned = { detectionCategory: DetectionCategory; tuning?: Tuning | undefined };
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
  const comparesRows = category === 'custom' || category === 'privilege_escalation';
  const nextOf = (numberOf: (facts: Facts) => number): number =>
    noise.map(({ facts }) => numberOf(facts)).toSorted((a, b) => b - a)[mayRemain] ?? 0;
  const count = Math.floor(nextOf((facts) => Number(facts[comparesRows ? 'rows' : 'count']))) + 1;
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
      isStricter(change, tuning),
  );
}

/** Returns false if the limit of a change already holds. */
function isStricter({ minimumCount, minimumIncrease, sequenceHours, peers }: Tuning, present: Tuning): boolean {
  if (minimumCount !== undefined) return minimumCount > (present.minimumCount ?? 1);
  if (minimumIncrease !== undefined) return minimumIncrease > (present.minimumIncrease ?? 0);
  if (sequenceHours !== undefined) return sequenceHours < sequenceMs({ tuning: present }) / 3_600_000;
  return peers === undefined || peersMin({ tuning: present }) !== 1;
}
