import { fieldError } from '../../../platform/lib/errors.ts';
import { findUnusedTuning } from '../../analysis/tuning/check-tuning.ts';
import type { Tuning } from '../../analysis/tuning/tuning.schema.ts';
import type { AgentRow } from './detection-row.ts';

/** Throws 400 if the tuning has a field that the category does not use, because the author would expect an effect. */
export function checkTuning({
  tuning,
  detection_category: category,
}: Pick<AgentRow, 'tuning' | 'detection_category'>): void {
  if (tuning === null || category === null) return;
  const unused = findUnusedTuning(JSON.parse(tuning) as Tuning, category);
  if (unused) throw fieldError(`/tuning/${unused.field}`, 'not_used', `\`${unused.field}\` ${unused.detail}`);
}
