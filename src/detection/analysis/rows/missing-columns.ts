import type { AnalysisDefinition } from '../analysis-definition.ts';
import type { EntityGroup } from './group-rows.ts';
import { findField } from './fields.ts';

/** Returns a warning for each column that the detection needs and no row of a window has. Returns none for a window without rows. */
export function findMissingColumns(
  groups: readonly EntityGroup[],
  { category, entityField }: Pick<AnalysisDefinition, 'category' | 'entityField'>,
): { code: string; detail: string }[] {
  if (groups.length === 0) return [];
  const isMissing = (column: string): boolean =>
    groups.every(({ rows }) => rows.every(({ row }) => findField(row, column) === undefined));
  const missing: { code: string; detail: string }[] = [];
  if (entityField !== null && isMissing(entityField))
    missing.push({
      code: 'no_entity_field',
      detail: `No row has the column ${entityField} from \`entityField\`. The entity was read from the common entity fields.`,
    });
  if (category === 'sequence_pattern' && isMissing('step'))
    missing.push({
      code: 'no_steps',
      detail: 'No row has a `step` column. Return it with the step number, starting at 1.',
    });
  return missing;
}
