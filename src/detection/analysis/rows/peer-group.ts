import type { AnalysisDefinition } from '../analysis-definition.ts';
import { canonicalText } from '../../../platform/lib/text/canonical-text.ts';
import { isAbsent } from './absent-values.ts';
import { findFieldAnyCase } from './fields.ts';
import { foldValue } from './fold-value.ts';
import type { EntityGroup } from './group-rows.ts';

/** Returns the value of `tuning.peers.by` in the entity's rows, or an empty text without one. Of several values, the first row's counts. */
export function findPeerGroup({ rows }: EntityGroup, { tuning }: Pick<AnalysisDefinition, 'tuning'>): string {
  const by = tuning?.peers?.by;
  if (by === undefined) return '';
  for (const { row } of rows) {
    const value = canonicalText(findFieldAnyCase(row, by));
    if (value !== undefined && !isAbsent(value)) return foldValue(by, value).slice(0, 200);
  }
  return '';
}
