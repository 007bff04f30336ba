import { cutText } from '../../../platform/lib/text/canonical-text.ts';

/** A value short enough for a sentence, or ''. It is cut between words only: half a name or address would be another one. */
export function quoteValue(value: string, max: number): string {
  if (value.length <= max) return value;
  const end = value.slice(0, max + 1).search(/[\s,;][^\s,;]*$/);
  return end > 0 ? `${value.slice(0, end)} …` : '';
}

export const quoteLengths = { action: 80, values: 200 };

/** A text of ours, kept to a length; cut between words too, as long as there are any. */
export function cutWords(text: string, max: number): string {
  return text.length <= max ? text : quoteValue(text, max - 2) || cutText(text, max);
}
