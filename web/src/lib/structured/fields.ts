import type { Mark } from '../passages.ts';

/** A scalar of a structured document, with its place in the stored text. */
export type Field = {
  /** Names and, for elements of lists, positions from 0. */
  path: readonly (string | number)[];
  value: string;
  start: number;
  end: number;
  /** Where each UTF-16 unit of the value starts, for values with escapes. Units of other values follow each other from `start`. */
  offsets?: readonly number[];
};

/** The name that a field has in its object. */
export const nameOf = ({ path }: Field): string =>
  path.findLast((step): step is string => typeof step === 'string') ?? '';

/**
 * Moves marks of the stored text to the values that they touch. `fields` are in the order of the text. A mark that covers several values
 * is cut at their borders, and one that covers half of a character is extended to the whole. Fields without a mark are left out.
 */
export function markFields(fields: readonly Field[], marks: readonly Mark[]): Map<Field, Mark[]> {
  const byField = new Map<Field, Mark[]>();
  for (const mark of marks)
    for (let index = findFirst(fields, mark.start); index < fields.length; index += 1) {
      const field = fields[index]!;
      if (field.start >= mark.end) break;
      const moved = moveMark(mark, field);
      if (moved.start < moved.end) byField.set(field, [...(byField.get(field) ?? []), moved]);
    }
  return byField;
}

/** Returns the index of the first field that ends after an offset. */
function findFirst(fields: readonly Field[], offset: number): number {
  let [low, high] = [0, fields.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (fields[middle]!.end > offset) high = middle;
    else low = middle + 1;
  }
  return low;
}

function moveMark({ key, start, end }: Mark, { value, offsets, ...field }: Field): Mark {
  const [from, to] = [Math.max(start, field.start), Math.min(end, field.end)];
  if (!offsets) return { key, ...extend(value, from - field.start, to - field.start) };
  const next = offsets.findIndex((offset) => offset > from);
  const after = offsets.findIndex((offset) => offset >= to);
  return {
    key,
    ...extend(value, (next === -1 ? value.length : next) - 1, after === -1 ? value.length : after),
  };
}

/** Extends a range so that it splits no surrogate pair. */
function extend(value: string, start: number, end: number): { start: number; end: number } {
  const splits = (at: number): boolean => at > 0 && at < value.length && (value.codePointAt(at - 1) ?? 0) > 0xffff;
  return { start: splits(start) ? start - 1 : start, end: splits(end) ? end + 1 : end };
}
