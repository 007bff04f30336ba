import type { DetectionCategory } from './candidate.ts';
import { baselineAnomaly } from './categories/baseline-anomaly.ts';
import { custom } from './categories/custom.ts';
import { firstOccurrence } from './categories/first-occurrence.ts';
import { privilegeEscalation } from './categories/privilege-escalation.ts';
import { sequencePattern } from './categories/sequence-pattern.ts';
import type { CategoryAnalysis } from './category.ts';

export const categories = {
  baseline_anomaly: baselineAnomaly,
  first_occurrence: firstOccurrence,
  sequence_pattern: sequencePattern,
  privilege_escalation: privilegeEscalation,
  custom,
} satisfies Record<DetectionCategory, CategoryAnalysis>;
