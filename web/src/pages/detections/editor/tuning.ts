import type { Category } from '../../../api/detection-parts.ts';
import type { NewDetection } from '../../../api/detections.ts';

export type Tuning = NonNullable<NewDetection['tuning']>;
type Values = Record<string, unknown>;

/** Returns the value of a field, which may be inside another: `peers.by`. */
export const readTuning = (tuning: Tuning, field: string): unknown =>
  field.split('.').reduce<unknown>((value, name) => (value as Values | undefined)?.[name], tuning);

/** Returns the tuning with another value of a field. A part of the tuning without values is left out. */
export function writeTuning(tuning: Tuning, field: string, value: unknown): Tuning {
  const [name, part] = field.split('.') as [keyof Tuning, string?];
  if (part === undefined) return { ...tuning, [name]: value };
  const parts: Values = { ...(tuning[name] as Values | undefined), [part]: value };
  return { ...tuning, [name]: Object.values(parts).some((one) => one !== undefined) ? parts : undefined };
}

/** Returns the parts of a tuning that a category uses. The API refuses the others. */
export const keepUsed = ({ allowLists, workingHours, severityRules, ...tuning }: Tuning, category: Category): Tuning =>
  category.tuning.reduce<Tuning>((kept, { field }) => writeTuning(kept, field, readTuning(tuning, field)), {
    allowLists,
    workingHours,
    severityRules,
  });
