import type { Candidate } from '../../analysis/candidate.ts';
import { confidenceOf } from './confidence.ts';
import { tellingEvidence } from './evidence.ts';
import type { Verdict } from '../verdict.ts';
import { wordingOf } from './wording.ts';

/** The built-in analyst: judges by the facts alone, with no language model. Every candidate triggers; severity and confidence follow from its facts. */
export function analystVerdict(candidate: Candidate): Verdict {
  const { entity, entityType, severity } = candidate;
  return {
    entity,
    entityType,
    triggered: true,
    confidence: confidenceOf(candidate),
    severity,
    ...wordingOf(candidate),
    evidence: tellingEvidence(candidate),
  };
}
