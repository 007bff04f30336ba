import type { Candidate } from '../../analysis/candidate.ts';
import { quoteCharsMax, quoteValue } from '../../analysis/wording.ts';

const firstMark = 0xe000;
const marksMax = 6_000;
const marks = /[\ue000-\uf8ff]/g;

/** A text in which each quoted value is replaced by one private-use character. `unmask` restores the values, or those that `isShown` selects. */
export type MaskedText = { masked: string; unmask: (text: string, isShown?: (value: string) => boolean) => string };

/**
 * Replaces complete values from rows and facts before a text is checked as language. The periods, numbers or addresses within
 * a quoted value are not claims of the text.
 */
export function maskValues(text: string, candidate: Candidate): MaskedText {
  const maskedValues: string[] = [];
  let masked = text.replaceAll(marks, ' ');
  for (const value of listQuotableValues(candidate)) {
    if (maskedValues.length === marksMax) break;
    const next = replaceWhole(masked, value, String.fromCharCode(firstMark + maskedValues.length));
    if (next === masked) continue;
    masked = next;
    maskedValues.push(value);
  }
  return {
    masked,
    unmask: (part, isShown = () => true) =>
      part.replaceAll(marks, (mark) => {
        const value = maskedValues[mark.charCodeAt(0) - firstMark] ?? '';
        return isShown(value) ? value : mark;
      }),
  };
}

/** Returns longer values first, so that a value within another one is masked with it. */
function listQuotableValues({ entity, rows, facts }: Candidate): string[] {
  const values = new Set([entity]);
  const texts = [...Object.values(facts).flat(), ...rows.flatMap(({ fields }) => Object.values(fields))];
  for (const text of texts) {
    if (typeof text !== 'string') continue;
    for (const max of Object.values(quoteCharsMax)) values.add(quoteValue(text, max));
  }
  return [...values].filter((value) => value.length >= 3).toSorted((a, b) => b.length - a.length);
}

/** Replaces the value except within a longer word, address or name. */
function replaceWhole(text: string, value: string, mark: string): string {
  let result = '';
  let from = 0;
  for (let start = text.indexOf(value); start !== -1; start = text.indexOf(value, start + 1)) {
    if (start < from) continue;
    const isStart = !/[\p{L}\p{N}_-]$|\d\.$/u.test(text.slice(Math.max(0, start - 2), start));
    const isEnd = !/^(?:[\p{L}\p{N}_]|[.-][\p{L}\p{N}])/u.test(
      text.slice(start + value.length, start + value.length + 3),
    );
    if (!isStart || !isEnd) continue;
    result += text.slice(from, start) + mark;
    from = start + value.length;
  }
  return result + text.slice(from);
}
