import type { Candidate } from '../candidate.ts';
import { buildCandidate } from '../build-candidate.ts';
import type { AnalysisInput, CategoryAnalysis } from '../category.ts';
import { type AnalysisDefinition, weekMs } from '../analysis-definition.ts';
import { isLearning, sinceOf, type PastMemory } from '../memory/memory.ts';
import { countGroups, type Counted } from '../rows/numbers.ts';
import { baselineOf, baselinesAmongOthers, robustZ, type Baseline } from '../memory/robust.ts';
import { pastSamples } from '../memory/samples.ts';
import { baselineSeverity } from '../severity.ts';

const zMin = 3.5;
const peersMin = 10;
const samplesFirm = 7;
const key = 'number';

/** An entity's number lies far above its own past, or, for a new entity, far above the others of this window. */
export const baselineAnomaly: CategoryAnalysis = {
  usesHistory: true,
  reachMs,
  remember: ({ groups }) =>
    countGroups(groups).map(({ group, number }) => ({ key, entity: group.entity, number, value: null })),
  recall: ({ groups, window, definition }) => ({
    want: 'samples',
    since: sinceOf(window, reachMs(definition)),
    entities: countGroups(groups)
      .filter(mayStandOut)
      .map(({ group }) => group.entity),
  }),
  candidates: (input) => {
    if (isLearning(input.past)) return { candidates: [], learning: true };
    return { candidates: findCandidates(input), learning: false };
  },
};

/** Eight weeks hold too few windows of a weekly detection. */
function reachMs({ slotMs }: AnalysisDefinition): number {
  return slotMs >= weekMs ? 26 * weekMs : 8 * weekMs;
}

/** A count is never negative, so its median is not either: below 3.5 no past could make it stand out. */
function mayStandOut({ number, unit }: Counted): boolean {
  return number >= zMin || unit === 'value';
}

type Compared = {
  baseline: Baseline;
  against: 'same hour' | 'all windows' | 'other entities';
  firstSeen: number | null;
};

function findCandidates(input: AnalysisInput & { past: PastMemory }): Candidate[] {
  const counted = countGroups(input.groups);
  const amongOthers =
    counted.length > peersMin ? baselinesAmongOthers(Float64Array.from(counted, (one) => one.number)) : undefined;
  const ownPast = pastSamples(input.past, input.window.from);
  return counted.filter(mayStandOut).flatMap((one) => {
    const own = ownPast(one.group.entity);
    const compared: Compared | undefined = own
      ? {
          baseline: baselineOf(own.samples),
          against: own.sameHour ? 'same hour' : 'all windows',
          firstSeen: own.firstSeen,
        }
      : amongOthers && { baseline: amongOthers(one.number), against: 'other entities', firstSeen: null };
    if (!compared) return [];
    const z = robustZ(one.number, compared.baseline);
    return z >= zMin ? [candidateOf(input, one, compared, z)] : [];
  });
}

function candidateOf(input: AnalysisInput, { group, number, unit }: Counted, compared: Compared, z: number): Candidate {
  const { baseline, against, firstSeen } = compared;
  const enoughPast = against !== 'other entities' && baseline.samples >= samplesFirm;
  return buildCandidate(input, group, {
    kindKey: `baseline_anomaly:${input.window.from.toISOString()}`,
    severity: baselineSeverity(z, enoughPast),
    rows: group.rows,
    facts: {
      count: number,
      unit,
      z: round(z),
      median: round(baseline.median),
      scale: round(baseline.scale),
      [against === 'other entities' ? 'peers' : 'samples']: baseline.samples,
      comparedWith: against,
      firstSeen: firstSeen === null ? null : new Date(firstSeen).toISOString(),
      enoughPast,
    },
  });
}

function round(number: number): number {
  return Math.round(number * 100) / 100;
}
