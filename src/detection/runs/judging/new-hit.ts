import type { Verified } from '../../verdicts/verification/verify-verdict.ts';
import type { NewHit } from '../../hits/insert-hits.store.ts';
import type { StoredCandidate } from './candidates.store.ts';

/** The hit that a verified verdict makes of a candidate. `judged` false: it stands by its facts alone. */
export function newHit(
  detectionId: string,
  candidate: StoredCandidate,
  { hitKey, verified, judged }: { hitKey: string; verified: Verified; judged: boolean },
): NewHit {
  const { triggered: _, ...verdict } = verified.verdict;
  return {
    ...verdict,
    key: hitKey,
    detectionId,
    kind: candidate.kind,
    rows: candidate.rows,
    facts: candidate.facts,
    judged,
    modelDisagrees: verified.modelDisagrees,
    windowFrom: candidate.windowFrom,
    windowTo: candidate.windowTo,
    late: candidate.late,
  };
}
