import type { Category } from './category.ts';
import { baselineAnomaly } from './categories/baseline-anomaly.ts';
import { custom, privilegeEscalation } from './categories/every-entity.ts';
import { firstOccurrence } from './categories/first-occurrence.ts';
import { sequencePattern } from './categories/sequence-pattern.ts';

const registered = {
  baseline_anomaly: baselineAnomaly,
  first_occurrence: firstOccurrence,
  sequence_pattern: sequencePattern,
  privilege_escalation: privilegeEscalation,
  custom,
} satisfies Record<string, Category>;

export type DetectionCategory = keyof typeof registered;
export const categories: Record<DetectionCategory, Category> = registered;
export const detectionCategories = Object.keys(categories) as DetectionCategory[];

/** Returns the category with this name. Throws if the name is unknown. */
export function getCategory(name: string): Category {
  const category = Object.hasOwn(categories, name) ? categories[name as DetectionCategory] : undefined;
  if (!category) throw new Error(`There is no detection category ${name}.`);
  return category;
}
