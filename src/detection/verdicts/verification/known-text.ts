import type { Candidate } from '../../analysis/candidate.ts';
import type { DetectionTexts } from '../detection-texts.ts';

/** The text that a verdict may repeat: that of a candidate's rows and facts and of the detection's name, with its numbers. */
export type KnownText = { text: string; numbers: Set<number> };

/** Normalizes text for comparison: NFKC, refanged addresses, lower case. */
export function normalizeText(text: string): string {
  return text
    .normalize('NFKC')
    .replaceAll(/\[\.\]|\(\.\)|\[dot\]/gi, '.')
    .replaceAll(/\[(:|@)\]/g, '$1')
    .replaceAll(/\bhxxp/gi, 'http')
    .toLowerCase();
}

export function collectCandidateText(
  { entity, entityType, rows, facts }: Candidate,
  { name, description, headline }: Pick<DetectionTexts, 'name' | 'description' | 'headline'>,
): KnownText {
  const authored = [name, description, headline ?? ''];
  const texts = [entity, entityType, ...authored];
  const numbers = new Set<number>();
  for (const text of authored) addNumbers(numbers, text);
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
  return { text: normalizeText([...texts, ...texts.flatMap(listTimeReadings)].join('\n')), numbers };
}

/** Returns how a sentence may give a time of a text: its date, and the time of day with and without seconds. */
function listTimeReadings(text: string): string[] {
  const times = text.matchAll(/\b(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(:\d\d)?/g);
  return [...times].flatMap(([, date = '', minute = '', second = '']) => [date, minute, minute + second]);
}

/** Collects the text and numbers of plain strings. */
export function collectText(texts: readonly string[]): KnownText {
  const numbers = new Set<number>();
  for (const text of texts) addNumbers(numbers, text);
  return { text: normalizeText(texts.join('\n')), numbers };
}

// Numbers on their own, not octets of an address or parts of a time.
const standaloneNumber = /(?<![\w.:/-])-?\d+(?:\.\d+)?(?![\w:/-]|\.\d)/g;

function addNumbers(numbers: Set<number>, text: string): void {
  for (const [number] of text.matchAll(standaloneNumber)) numbers.add(Number(number));
}

/** Returns whether the known text contains the claim as a whole word or address: not `10.0.0.1` in `10.0.0.11`, nor `evil.com` in `notevil.com` or `evil.com.example`. */
export function containsWhole({ text }: Pick<KnownText, 'text'>, claim: string): boolean {
  for (let start = text.indexOf(claim); start !== -1; start = text.indexOf(claim, start + 1)) {
    const isStart = !/[a-z0-9_-]$|\d\.$/.test(text.slice(Math.max(0, start - 2), start));
    const isEnd = !/^(?:[a-z0-9_]|[.-][a-z0-9])/.test(text.slice(start + claim.length, start + claim.length + 2));
    if (isStart && isEnd) return true;
  }
  return false;
}

/** Returns whether a number is known, or equals a known number rounded to the same decimals. */
export function containsNumber({ numbers }: KnownText, text: string): boolean {
  const claimed = Number(text);
  if (numbers.has(claimed)) return true;
  const decimals = text.split('.')[1]?.length ?? 0;
  for (const number of numbers)
    if (!Number.isInteger(number) && Number(number.toFixed(Math.min(decimals, 10))) === claimed) return true;
  return false;
}
