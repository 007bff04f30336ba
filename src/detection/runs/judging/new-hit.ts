import type { NewHit } from '../../hits/insert-hits.store.ts';
import type { VerifiedVerdict } from '../../verdicts/verification/verify-verdict.ts';
import type { StoredCandidate } from './candidates.store.ts';

/** Returns the hit of a candidate with a triggered verdict. `judged` is false if the verdict comes from its facts alone. */
export function toNewHit(
  detectionId: string,
  candidate: StoredCandidate,
  { hitKey, verified, judged }: { hitKey: string; verified: VerifiedVerdict; judged: boolean },
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
