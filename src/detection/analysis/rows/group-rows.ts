import type { QueryRow } from '../../siem/connector.ts';
import type { AnalysisDefinition } from '../analysis-definition.ts';
import { inferEntityType, commonEntityFields, foldValue } from './entity-fields.ts';
import { findField, findFieldAnyCase, isAbsent, parseNumber } from './fields.ts';
import { type Steps, mapInSteps } from '../../../platform/lib/concurrency/slices.ts';
import { redactText } from '../../../platform/lib/text/redact.ts';
import {
  shortenText,
  canonicalText,
  compareCodeUnits,
  escapeInvisible,
} from '../../../platform/lib/text/canonical-text.ts';
import { extractValues } from './row-values.ts';

/**
 * The rows of one entity in one window. `entity` is its name as the rows write it, and `identity` the form under which it is remembered, which is the
 * same for `ADA` and `ada`. `isNamed`: a field identified the entity in every row, not the whole row.
 */
export type EntityGroup = {
  entity: string;
  identity: string;
  entityType: string;
  isNamed: boolean;
  rows: GroupedRow[];
};

/** `field` is the field that identified the entity, or null if the whole row did. */
export type GroupedRow = { row: QueryRow; field: string | null };

type EntityMatch = { entity: string; field: string | null; rank: number };

/**
 * Groups rows by entity: the definition's field, else the first common entity field, else the row without numbers, times and `_` columns,
 * else `*`. Names that differ only in case are one entity if case does not matter in their field. Groups are sorted by entity, so the result does not depend on the order of the rows.
 */
export function* groupRows(
  rows: readonly QueryRow[],
  definition: Pick<AnalysisDefinition, 'entityField'>,
): Steps<EntityGroup[]> {
  const groups = new Map<string, { group: EntityGroup; rank: number }>();
  for (const row of rows) {
    yield;
    const { entity, field, rank } = findEntity(row, definition.entityField);
    const identity = field === null ? entity : foldValue(field, entity);
    const entry = groups.get(identity) ?? {
      group: { entity, identity, entityType: '', isNamed: true, rows: [] },
      rank: Number.POSITIVE_INFINITY,
    };
    // Of several spellings, always the same one is shown.
    if (entity < entry.group.entity) entry.group.entity = entity;
    entry.group.rows.push({ row, field });
    entry.group.isNamed &&= field !== null;
    // An entity found in several fields gets the type of the highest-ranked field.
    if (rank < entry.rank) {
      entry.rank = rank;
      entry.group.entityType = field === null ? 'entity' : inferEntityType(field, entity);
    }
    groups.set(identity, entry);
  }
  return [...groups.values()].map(({ group }) => group).toSorted((a, b) => compareCodeUnits(a.entity, b.entity));
}

function findEntity(row: QueryRow, entityField: string | null): EntityMatch {
  const named = entityField === null ? undefined : toEntity(findFieldAnyCase(row, entityField));
  if (entityField !== null && named !== undefined) return { entity: named, field: entityField, rank: -1 };
  for (const [rank, field] of commonEntityFields.entries()) {
    const entity = toEntity(findField(row, field));
    if (entity !== undefined) return { entity, field, rank };
  }
  const values = extractValues(row, null).map(([field, value]) => `${field}=${value}`);
  const entity = values.length > 0 ? sanitizeEntity(values.join(', ')) : '*';
  return { entity, field: null, rank: commonEntityFields.length };
}

function toEntity(value: unknown): string | undefined {
  const text = canonicalText(value);
  return text === undefined || isAbsent(text) ? undefined : sanitizeEntity(text);
}

/** Sanitizes an entity like a rendered row, because it is stored, shown and sent to models. */
function sanitizeEntity(text: string): string {
  return shortenText(escapeInvisible(redactText(text)));
}

/** Computes a value once per group and returns it on later calls. A group belongs to one analysis of one window. */
export function memoizePerGroup<T, Args extends unknown[]>(
  compute: (group: EntityGroup, ...args: Args) => Steps<T>,
): (group: EntityGroup, ...args: Args) => Steps<T> {
  const values = new WeakMap<EntityGroup, T>();
  return function* (group, ...args) {
    if (!values.has(group)) values.set(group, yield* compute(group, ...args));
    return values.get(group) as T;
  };
}

/** A group's number. `unit` is the summed column, or `rows` if rows were counted. */
export type GroupNumber = { group: EntityGroup; number: number; unit: string };

// The last three are the engines' names for a count without an alias.
const numberColumns = ['count', 'value', 'n', 'count_star()', 'count(*)', 'count()'];

const numbersOf = new WeakMap<readonly EntityGroup[], GroupNumber[]>();

/**
 * Returns each group's sum of the first of `count`, `value` and `n` that contains only numbers, else its number of rows. Computes them once
 * for the groups of a window.
 */
export function* computeGroupNumbers(groups: readonly EntityGroup[]): Steps<GroupNumber[]> {
  const known = numbersOf.get(groups);
  if (known) return known;
  const numbers = yield* sumNumbers(groups);
  numbersOf.set(groups, numbers);
  return numbers;
}

function* sumNumbers(groups: readonly EntityGroup[]): Steps<GroupNumber[]> {
  const column = yield* findNumberColumn(groups);
  if (column === undefined) return groups.map((group) => ({ group, number: group.rows.length, unit: 'rows' }));
  const groupNumbers: GroupNumber[] = [];
  for (const group of groups) {
    const numbers = (yield* mapInSteps(group.rows, ({ row }) => parseNumber(findColumn(row, column)) ?? [])).flat();
    if (numbers.length > 0)
      groupNumbers.push({ group, number: numbers.reduce((sum, one) => sum + one, 0), unit: column });
  }
  return groupNumbers;
}

function* findNumberColumn(groups: readonly EntityGroup[]): Steps<string | undefined> {
  for (const name of numberColumns) if (yield* hasOnlyNumbers(groups, name)) return name;
  return undefined;
}

/** Returns whether at least one row has a number in the column and none has text. */
function* hasOnlyNumbers(groups: readonly EntityGroup[], column: string): Steps<boolean> {
  let hasNumber = false;
  for (const { rows } of groups) {
    for (const { row } of rows) {
      yield;
      const value = findColumn(row, column);
      if (value === undefined || value === null || isNotFinite(value)) continue;
      if (parseNumber(value) === undefined) return false;
      hasNumber = true;
    }
  }
  return hasNumber;
}

/** Returns whether a value is NaN or infinite, for example from a division by zero. Such values do not make a column non-numeric. */
function isNotFinite(value: unknown): boolean {
  return typeof value === 'number' && !Number.isFinite(value);
}

function findColumn(row: QueryRow, column: string): unknown {
  if (Object.hasOwn(row, column)) return row[column];
  const name = Object.keys(row).find((own) => own.toLowerCase() === column);
  return name === undefined ? undefined : row[name];
}

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
