import type { QueryRow } from '../../siem/connector.ts';
import type { AnalysisDefinition } from '../analysis-definition.ts';
import { inferEntityType, commonEntityFields } from './entity-fields.ts';
import { findField, findFieldAnyCase } from './fields.ts';
import type { Steps } from '../../../platform/lib/concurrency/slices.ts';
import { redactText } from '../../../platform/lib/text/redact.ts';
import {
  shortenText,
  canonicalText,
  compareCodeUnits,
  escapeInvisible,
} from '../../../platform/lib/text/canonical-text.ts';
import { extractValues } from './row-values.ts';
import { isAbsent } from './absent-values.ts';
import { foldValue } from './fold-value.ts';

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
