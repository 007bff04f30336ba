import { isCatalogFull, type CatalogField } from './catalog.ts';
import type { ObservedField } from './field-observer.ts';

/** Returns whether the events of a batch have keys that were not observed, because there are too many. */
export const hasUnobserved = (observed: readonly ObservedField[]): boolean =>
  isCatalogFull(observed) || hasOpen(observed);

const hasOpen = (fields: readonly ObservedField[]): boolean =>
  fields.some(({ open, nested }) => open || hasOpen(nested));

/**
 * Returns whether a batch may have values that do not fit known fields and that were not observed, because the batch has too many other keys.
 */
export const mayHideValues = (known: readonly CatalogField[], observed: readonly ObservedField[]): boolean =>
  hidesAny(known, observed, isCatalogFull(observed));

function hidesAny(known: readonly CatalogField[], observed: readonly ObservedField[], isPartial: boolean): boolean {
  const byName = new Map(observed.map((field) => [field.name.toLowerCase(), field]));
  return known.some((field) => {
    const seen = byName.get(field.name.toLowerCase());
    return seen ? hidesAny(field.nested, seen.nested, seen.open) : isPartial && canDrift(field);
  });
}

/** Returns whether values of another type can be hidden in a field. Any value fits a column of text. */
const canDrift = ({ type }: CatalogField): boolean => type !== 'VARCHAR' && type !== 'NULL';

/** Replaces the observed fields that were examined a second time, and adds those that were hidden. */
export function replaceExamined(
  observed: readonly ObservedField[],
  examined: readonly ObservedField[],
): ObservedField[] {
  const byName = new Map(observed.map((field) => [field.name.toLowerCase(), field]));
  const names = new Set(examined.map(({ name }) => name.toLowerCase()));
  const complete = examined.map((field) => {
    const seen = byName.get(field.name.toLowerCase());
    return seen ? { ...field, open: seen.open, nested: replaceExamined(seen.nested, field.nested) } : field;
  });
  return [...complete, ...observed.filter(({ name }) => !names.has(name.toLowerCase()))];
}
