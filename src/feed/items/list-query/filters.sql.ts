import { sql } from 'kysely';
import { overriddenIds } from '../snapshot/override-rows.store.ts';
import { allOf, type Condition, type Sql } from '../snapshot/query.sql.ts';

/** Publishers and source names, either of which may match. */
export type SourceFilter = { publishers: string[]; names: string[] };

/** The filters of a list by the columns of an item. */
export type ItemFilters = {
  severity?: string;
  status?: string;
  platform?: string;
  sources?: SourceFilter;
  /** Leaves duplicates out. */
  rootsOnly?: boolean;
  /** Sequence number of the organization's private pool at which its overrides apply. Absent when the organization has no overrides. */
  overridesSeq?: number;
};

/** Returns whether overrides decide which items a list contains: only severity, status and the root of an item can be overridden. */
export const usesOverriddenRows = ({ overridesSeq, severity, status, rootsOnly = false }: ItemFilters): boolean =>
  overridesSeq !== undefined && (rootsOnly || severity !== undefined || status !== undefined);

/** Returns whether the list also contains roots that only a duplicate of theirs connects to the wanted source. */
export const usesDuplicateRoots = ({ rootsOnly = false, sources }: ItemFilters): boolean =>
  rootsOnly && sources !== undefined;

/** Returns whether a list leaves out any item of its pools. */
export const hasFilters = ({ overridesSeq: _overridesSeq, rootsOnly = false, ...columns }: ItemFilters): boolean =>
  rootsOnly || Object.values(columns).some((value) => value !== undefined);

/** Compares a row's own columns with the filters, without overrides. `platforms` is the array to search. */
export const matchesRow = (
  { platform, sources, severity, status, rootsOnly }: ItemFilters,
  platforms: Sql = sql`platforms`,
): Condition =>
  allOf([
    platform === undefined ? undefined : sql`${platform} = any(${platforms})`,
    sources && isOfSource(sources),
    severity === undefined ? undefined : hasValue('severity', severity),
    status === undefined ? undefined : hasValue('status', status),
    rootsOnly ? isRoot : undefined,
  ]);

/**
 * Like `matchesRow`, but the organization's override of a column wins over the row. In a `case`, so that the few overrides are looked up in
 * memory and the list stays one scan.
 */
export const matchesAsOverridden = (filters: ItemFilters, id: Sql): Condition => {
  const { severity, status, rootsOnly, overridesSeq, ...fixedFilters } = filters;
  if (overridesSeq === undefined) return matchesRow(filters);
  const overridden = (own: { isSet: Condition; matches: Condition }, shared: Condition): Condition => sql`
    case when ${id} in ${overriddenIds(overridesSeq, own.isSet)} then ${id} in ${overriddenIds(overridesSeq, own.matches)} else ${shared} end`;
  const overriddenValue = (column: 'severity' | 'status', value: string): Condition => {
    const own = sql.ref(`o.${column}`);
    return overridden({ isSet: sql`${own} is not null`, matches: sql`${own} = ${value}` }, hasValue(column, value));
  };
  return allOf([
    matchesRow(fixedFilters),
    severity === undefined ? undefined : overriddenValue('severity', severity),
    status === undefined ? undefined : overriddenValue('status', status),
    rootsOnly
      ? overridden({ isSet: sql`o.moved`, matches: sql`o.moved and o.duplicate_of is null` }, isRoot)
      : undefined,
  ]);
};

export const isOfSource = ({ publishers, names }: SourceFilter): Condition =>
  sql`publisher = any(${publishers}) or source_name = any(${names})`;

const hasValue = (column: 'severity' | 'status', value: string): Condition => sql`${sql.ref(column)} = ${value}`;
const isRoot: Condition = sql`duplicate_of is null`;
