import type { Row } from '../../siem/connector.ts';
import type { AnalysisDefinition } from '../analysis-definition.ts';
import { entityTypeOf, usualEntityNames } from './entity-names.ts';
import { lookup } from './fields.ts';
import { redactText } from '../../../platform/lib/text/redact.ts';
import {
  shortenText,
  canonicalText,
  compareCodeUnits,
  escapeInvisible,
} from '../../../platform/lib/text/canonical-text.ts';
import { valuesOf } from './values.ts';

/** The rows of one entity in one window. `named`: every one of them by the entity field or a usual name, not by the whole row. */
export type Group = { entity: string; entityType: string; named: boolean; rows: EntityRow[] };

/** `field` is the name that gave the entity, null where the whole row did. */
export type EntityRow = { row: Row; field: string | null };

type Found = { entity: string; field: string | null; rank: number };

/**
 * Groups rows by entity: the definition's field, else the first of the usual names, else the row without numbers, times and
 * `_` columns, else `*`. Groups come in the order of their names, so that nothing depends on the order of the rows.
 */
export function groupRows(rows: readonly Row[], definition: Pick<AnalysisDefinition, 'entityField'>): Group[] {
  const names = definition.entityField === null ? usualEntityNames : [definition.entityField, ...usualEntityNames];
  const groups = new Map<string, Group & { rank: number }>();
  for (const row of rows) {
    const found = findEntity(row, names);
    const group = groups.get(found.entity) ?? newGroup(found);
    group.rows.push({ row, field: found.field });
    group.named &&= found.field !== null;
    // One name found under several fields keeps the type of the field that comes first.
    if (found.rank < group.rank) Object.assign(group, { rank: found.rank, entityType: typeOf(found) });
    groups.set(found.entity, group);
  }
  return [...groups.values()]
    .toSorted((a, b) => compareCodeUnits(a.entity, b.entity))
    .map(({ entity, entityType, named, rows: own }) => ({ entity, entityType, named, rows: own }));
}

function newGroup(found: Found): Group & { rank: number } {
  return { entity: found.entity, entityType: typeOf(found), named: true, rows: [], rank: found.rank };
}

function typeOf({ field, entity }: Found): string {
  return field === null ? 'entity' : entityTypeOf(field, entity);
}

function findEntity(row: Row, names: readonly string[]): Found {
  for (const [rank, field] of names.entries()) {
    const text = canonicalText(lookup(row, field));
    // Windows writes a dash where it has no name.
    if (text !== undefined && text !== '-' && text.trim() !== '') return { entity: entityText(text), field, rank };
  }
  const whole = valuesOf(row, null).map(([field, value]) => `${field}=${value}`);
  return { entity: whole.length > 0 ? entityText(whole.join(', ')) : '*', field: null, rank: names.length };
}

/** An entity is stored, shown and sent to models like a row, so it is made safe like one. */
function entityText(text: string): string {
  return shortenText(escapeInvisible(redactText(text)));
}

/** Computes something of a group once, however often a category asks: a group belongs to one analysis of one window. */
export function oncePerGroup<T, Args extends unknown[]>(
  compute: (group: Group, ...args: Args) => T,
): (group: Group, ...args: Args) => T {
  const known = new WeakMap<Group, T>();
  return (group, ...args) => {
    if (!known.has(group)) known.set(group, compute(group, ...args));
    return known.get(group) as T;
  };
}
