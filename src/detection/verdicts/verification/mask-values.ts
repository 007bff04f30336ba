import type { Candidate } from '../../analysis/candidate.ts';
import { quoteLengths, quoteValue } from '../analyst/quote-value.ts';

const firstMark = 0xe000;
const marksMax = 6_000;
const marks = /[\ue000-\uf8ff]/g;

/** Whole values that a text may quote, and their places in it; `masked` has one private character in place of each. */
export type Masked = { masked: string; unmask: (text: string) => string };

/**
 * Takes whole values of rows and facts out of a text before it is read as language: what a value holds by itself (full stops,
 * numbers, an address) is no claim of the text that quotes it.
 */
export function maskValues(text: string, candidate: Candidate): Masked {
  const found: string[] = [];
  let masked = text.replaceAll(marks, ' ');
  for (const value of valuesOf(candidate)) {
    if (found.length === marksMax) break;
    const next = replaceWhole(masked, value, String.fromCharCode(firstMark + found.length));
    if (next === masked) continue;
    masked = next;
    found.push(value);
  }
  return { masked, unmask: (part) => part.replaceAll(marks, (mark) => found[mark.charCodeAt(0) - firstMark] ?? '') };
}

/** The longest first, so that no value hides in the middle of another. */
function valuesOf({ entity, rows, facts }: Candidate): string[] {
  const values = new Set([entity]);
  const texts = [...Object.values(facts).flat(), ...rows.flatMap(({ fields }) => Object.values(fields))];
  for (const text of texts) {
    if (typeof text !== 'string') continue;
    for (const max of Object.values(quoteLengths)) values.add(quoteValue(text, max));
  }
  return [...values].filter((value) => value.length >= 3).toSorted((a, b) => b.length - a.length);
}

/** Only where the value stands as a whole: not inside of a longer word, address or name. */
function replaceWhole(text: string, value: string, mark: string): string {
  let result = '';
  let from = 0;
  for (let at = text.indexOf(value); at !== -1; at = text.indexOf(value, at + 1)) {
    if (at < from) continue;
    const isStart = !/[\p{L}\p{N}_-]$|\d\.$/u.test(text.slice(Math.max(0, at - 2), at));
    const isEnd = !/^(?:[\p{L}\p{N}_]|[.-][\p{L}\p{N}])/u.test(text.slice(at + value.length, at + value.length + 3));
    if (!isStart || !isEnd) continue;
    result += text.slice(from, at) + mark;
    from = at + value.length;
  }
  return result + text.slice(from);
}
