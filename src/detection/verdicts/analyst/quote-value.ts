import { truncateText } from '../../../platform/lib/text/canonical-text.ts';

/** Shortens a value for a sentence. Cuts only between words, because part of a name or address would be a different one. Returns '' if that is impossible. */
export function quoteValue(value: string, max: number): string {
  if (value.length <= max) return value;
  const end = value.slice(0, max + 1).search(/[\s,;][^\s,;]*$/);
  return end > 0 ? `${value.slice(0, end)} …` : '';
}

/** The most characters of a quoted value, by where it is quoted. */
export const quoteCharsMax = { action: 80, headline: 120, values: 200 };

/** Shortens values for a sentence and drops those that cannot be shortened. */
export function quoteValues(values: readonly string[], max: number): string[] {
  return values.map((value) => quoteValue(value, max)).filter((value) => value !== '');
}

/** Joins values in quotation marks: `“a”, “b” and “c”`. */
export function joinQuoted(values: readonly string[]): string {
  const quoted = values.map((value) => `“${value}”`);
  return quoted.length < 2 ? quoted.join('') : `${quoted.slice(0, -1).join(', ')} and ${quoted.at(-1)}`;
}

/** Shortens a text between words if possible, otherwise anywhere. */
export function truncateAtWord(text: string, max: number): string {
  return text.length <= max ? text : quoteValue(text, max - 2) || truncateText(text, max);
}
