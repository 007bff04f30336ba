import type { DetectionCategory } from './candidate.ts';
import { baselineAnomaly } from './categories/baseline-anomaly.ts';
import { everyEntity } from './categories/every-entity.ts';
import { firstOccurrence } from './categories/first-occurrence.ts';
import { sequencePattern } from './categories/sequence-pattern.ts';
import type { CategoryAnalysis } from './category.ts';
import { severityRules } from './severity.ts';

export const categories = {
  baseline_anomaly: baselineAnomaly,
  first_occurrence: firstOccurrence,
  sequence_pattern: sequencePattern,
  privilege_escalation: everyEntity(severityRules.privilegeEscalation),
  custom: everyEntity(severityRules.custom),
} satisfies Record<DetectionCategory, CategoryAnalysis>;
