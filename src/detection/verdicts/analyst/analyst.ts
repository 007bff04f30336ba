import type { Candidate } from '../../analysis/candidate.ts';
import { computeAnalystConfidence } from './confidence.ts';
import { selectEvidence } from './evidence.ts';
import type { Verdict } from '../verdict.ts';
import { describeCandidate } from './wording.ts';

/** Creates the verdict of the built-in analyst, which uses no language model. Every candidate triggers, with severity and confidence from its facts. */
export function createAnalystVerdict(candidate: Candidate): Verdict {
  const { entity, entityType, severity } = candidate;
  return {
    entity,
    entityType,
    triggered: true,
    confidence: computeAnalystConfidence(candidate),
    severity,
    ...describeCandidate(candidate),
    evidence: selectEvidence(candidate),
  };
}
