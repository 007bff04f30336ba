import type { AnalysisDefinition } from '../analysis-definition.ts';
import type { Group } from './group-rows.ts';
import { lookup } from './fields.ts';

/** Columns that a detection counts on and no row of a window has, in words by code; none for a window without rows. */
export function missingColumns(
  groups: readonly Group[],
  { category, entityField }: Pick<AnalysisDefinition, 'category' | 'entityField'>,
): { code: string; detail: string }[] {
  if (groups.length === 0) return [];
  const isMissing = (column: string): boolean =>
    groups.every(({ rows }) => rows.every(({ row }) => lookup(row, column) === undefined));
  const missing: { code: string; detail: string }[] = [];
  if (entityField !== null && isMissing(entityField))
    missing.push({
      code: 'no_entity_field',
      detail: `No row has the column ${entityField} that entityField names; the entity was taken from the usual names.`,
    });
  if (category === 'sequence_pattern' && isMissing('step'))
    missing.push({
      code: 'no_steps',
      detail: 'No row has a column step; a sequence is made of rows with steps from 1 on.',
    });
  return missing;
}
