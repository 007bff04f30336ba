import { didYouMean } from '../../platform/lib/text/nearest-names.ts';
import type { Steps } from '../../platform/lib/concurrency/slices.ts';
import { canonicalText } from '../../platform/lib/text/canonical-text.ts';
import type { AnalysisDefinition } from './analysis-definition.ts';
import { isAbsent, findFieldAnyCase } from './rows/fields.ts';
import type { EntityGroup } from './rows/group-rows.ts';
import { findRowTime } from './rows/row-times.ts';
import { getCategory } from './registry.ts';

export type ResultWarning = { code: string; detail: string };

/** A window's result. `columns` are those of the query, if the SIEM reports them: they are known even without rows. */
type WindowResult = { groups: readonly EntityGroup[]; columns?: readonly string[] | undefined; aggregate: boolean };

type NeededFields = Pick<AnalysisDefinition, 'category' | 'entityField' | 'timeField'>;

/**
 * Returns a warning for each field that the detection needs and that a window's result does not have, because the detection would silently
 * find less than its author expects. Returns none if nothing is known about the result.
 */
export function* findResultWarnings(result: WindowResult, definition: NeededFields): Steps<ResultWarning[]> {
  const { entityField, timeField } = definition;
  const { neededColumns, needsRowTimes } = getCategory(definition.category);
  const warnings: ResultWarning[] = [];
  if (entityField !== null) warnings.push(...(yield* findEntityWarnings(result, entityField)));
  if (timeField !== null && (yield* isMissing(result, timeField)))
    warnings.push({
      code: 'no_time_field',
      detail: `${describeMissing(result, 'timeField', timeField)} Times were read from the common time fields.`,
    });
  for (const { column, code, detail } of neededColumns)
    if (yield* isMissing(result, column)) warnings.push({ code, detail });
  if (
    hasRows(result) &&
    // An aggregate has the time of its window.
    (needsRowTimes || !result.aggregate) &&
    (yield* everyRow(result, (row) => findRowTime(row, timeField) === undefined))
  )
    warnings.push({
      code: 'no_row_times',
      detail: 'No row has a time. Return `_time`, or name the column that has it in `timeField`.',
    });
  return warnings;
}

function* findEntityWarnings(result: WindowResult, entityField: string): Steps<ResultWarning[]> {
  const instead = 'The entity was read from the common entity fields.';
  if (yield* isMissing(result, entityField))
    return [{ code: 'no_entity_field', detail: `${describeMissing(result, 'entityField', entityField)} ${instead}` }];
  const isEmpty = yield* everyRow(result, (row) => isAbsent(canonicalText(findFieldAnyCase(row, entityField)) ?? ''));
  if (!hasRows(result) || !isEmpty) return [];
  return [
    {
      code: 'no_entity_value',
      detail: `The column ${entityField} from \`entityField\` is empty in every row. ${instead}`,
    },
  ];
}

/** Returns the start of a warning about a configured column that no row has, with the nearest columns. */
const describeMissing = (result: WindowResult, setting: 'entityField' | 'timeField', column: string): string =>
  `No row has the column ${column} from \`${setting}\`${didYouMean(column, listColumns(result))}`;

const hasRows = ({ groups }: WindowResult): boolean => groups.some(({ rows }) => rows.length > 0);

function* everyRow({ groups }: WindowResult, test: (row: Record<string, unknown>) => boolean): Steps<boolean> {
  for (const { rows } of groups)
    for (const { row } of rows) {
      yield;
      if (!test(row)) return false;
    }
  return true;
}

function* isMissing(result: WindowResult, column: string): Steps<boolean> {
  if (hasRows(result)) return yield* everyRow(result, (row) => findFieldAnyCase(row, column) === undefined);
  const { columns } = result;
  if (!columns) return false;
  // A dotted name may lead into a column that contains an object.
  const lower = column.toLowerCase();
  return !columns.some((name) => lower === name.toLowerCase() || lower.startsWith(`${name.toLowerCase()}.`));
}

const listColumns = ({ columns, groups }: WindowResult): string[] => [
  ...new Set([...(columns ?? []), ...groups.slice(0, 20).flatMap(({ rows }) => Object.keys(rows[0]?.row ?? {}))]),
];
