import type { Candidate } from '../../analysis/candidate.ts';

/** All that may be said about a candidate: the text of its rows and facts, and the numbers in them. */
export type Known = { text: string; numbers: Set<number> };

/** One form for what is compared: compatibility forms folded, defanged addresses made whole, lower case. */
export function normalText(text: string): string {
  return text
    .normalize('NFKC')
    .replaceAll(/\[\.\]|\(\.\)|\[dot\]/gi, '.')
    .replaceAll(/\[(:|@)\]/g, '$1')
    .replaceAll(/\bhxxp/gi, 'http')
    .toLowerCase();
}

export function knownOf({ entity, entityType, rows, facts }: Candidate): Known {
  const texts = [entity, entityType];
  const numbers = new Set<number>();
  for (const { rowId, time, fields, eventIds } of rows) {
    texts.push(rowId, time ?? '', ...(eventIds ?? []), ...Object.keys(fields), ...Object.values(fields));
    for (const value of Object.values(fields)) addNumbers(numbers, value);
  }
  addNumbers(numbers, entity);
  for (const fact of Object.values(facts).flat()) {
    if (typeof fact === 'number') numbers.add(fact);
    if (typeof fact !== 'string') continue;
    texts.push(fact);
    addNumbers(numbers, fact);
  }
  return { text: normalText(texts.join('\n')), numbers };
}

/** The same of texts alone. */
export function knownText(texts: readonly string[]): Known {
  const numbers = new Set<number>();
  for (const text of texts) addNumbers(numbers, text);
  return { text: normalText(texts.join('\n')), numbers };
}

// A number that stands alone: an octet of an address or a part of a time is none.
const alone = /(?<![\w.:/-])-?\d+(?:\.\d+)?(?![\w:/-]|\.\d)/g;

function addNumbers(numbers: Set<number>, text: string): void {
  for (const [found] of text.matchAll(alone)) numbers.add(Number(found));
}

/** Says whether a text stands in what is known, as a whole: `10.0.0.1` does not stand in `10.0.0.11`, nor `evil.com` in `notevil.com` or `evil.com.example`. */
export function stands({ text }: Pick<Known, 'text'>, claim: string): boolean {
  for (let at = text.indexOf(claim); at !== -1; at = text.indexOf(claim, at + 1)) {
    const isStart = !/[a-z0-9_-]$|\d\.$/.test(text.slice(Math.max(0, at - 2), at));
    const isEnd = !/^(?:[a-z0-9_]|[.-][a-z0-9])/.test(text.slice(at + claim.length, at + claim.length + 2));
    if (isStart && isEnd) return true;
  }
  return false;
}

/** Says whether a number is known, or is a known one rounded to as many decimals. */
export function standsNumber({ numbers }: Known, text: string): boolean {
  const claimed = Number(text);
  if (numbers.has(claimed)) return true;
  const decimals = text.split('.')[1]?.length ?? 0;
  for (const number of numbers)
    if (!Number.isInteger(number) && Number(number.toFixed(Math.min(decimals, 10))) === claimed) return true;
  return false;
}
