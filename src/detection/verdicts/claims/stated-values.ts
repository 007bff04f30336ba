/** Normalizes text for comparison: NFKC, refanged addresses, lower case. */
export function normalizeText(text: string): string {
  return text
    .normalize('NFKC')
    .replaceAll(/\[\.\]|\(\.\)|\[dot\]/gi, '.')
    .replaceAll(/\[(:|@)\]/g, '$1')
    .replaceAll(/\bhxxp/gi, 'http')
    .toLowerCase();
}

/** Returns whether the known text contains the claim as a whole word or address: not `10.0.0.1` in `10.0.0.11`, nor `evil.com` in `notevil.com` or `evil.com.example`. An empty claim states nothing, which every text contains. */
export function containsWhole({ text }: { text: string }, claim: string): boolean {
  if (claim === '') return true;
  for (let start = text.indexOf(claim); start !== -1; start = text.indexOf(claim, start + 1)) {
    const isStart = !/[a-z0-9_-]$|\d\.$/.test(text.slice(Math.max(0, start - 2), start));
    const isEnd = !/^(?:[a-z0-9_]|[.-][a-z0-9])/.test(text.slice(start + claim.length, start + claim.length + 2));
    if (isStart && isEnd) return true;
  }
  return false;
}

/** Returns whether a number is known, or equals a known number rounded to the same decimals. */
function containsNumber({ numbers }: { numbers: ReadonlySet<number> }, text: string): boolean {
  const claimed = Number(text);
  if (numbers.has(claimed)) return true;
  const decimals = text.split('.')[1]?.length ?? 0;
  for (const number of numbers)
    if (!Number.isInteger(number) && Number(number.toFixed(Math.min(decimals, 10))) === claimed) return true;
  return false;
}

/** What a sentence is compared with: the texts of the cited cells, the times of their rows, and how many things they are. */
export type CitedText = { texts: readonly string[]; times: readonly Date[]; counts: readonly number[] };

const quoted = /"([^"]+)"|“([^”]+)”|«([^»]+)»|`([^`]+)`|(?<![\p{L}\p{N}])['‘]([^'’]+)['’](?![\p{L}\p{N}])/gu;
const techniqueId = /\bT\d{4}(?:\.\d{3})?\b/g;
const months = Array.from({ length: 12 }, (_, month) =>
  new Date(Date.UTC(2000, month)).toLocaleString('en', { month: 'long', timeZone: 'UTC' }),
);
const month = months.map((name) => `${name}|${name.slice(0, 3)}`).join('|');
const instant = /\b(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?))?/g;
const clock = /(?<![\d:])(\d{1,2}:\d\d(?::\d\d(?:\.\d+)?)?)(?![\d:])/g;
const dayFirst = new RegExp(String.raw`\b(\d{1,2})(?:st|nd|rd|th)? (?:of )?(${month})\b(?:,? (\d{4}))?`, 'g');
const monthFirst = new RegExp(String.raw`\b(${month}) (\d{1,2})(?:st|nd|rd|th)?\b(?:,? (\d{4}))?`, 'g');
const numberWords = [
  'zero',
  'one',
  'two',
  'three',
  'four',
  'five',
  'six',
  'seven',
  'eight',
  'nine',
  'ten',
  'eleven',
  'twelve',
];
const unitMs: Record<string, number> = {
  second: 1000,
  minute: 60_000,
  hour: 3_600_000,
  day: 86_400_000,
  week: 604_800_000,
};
const duration = new RegExp(
  String.raw`\b(\d+(?:\.\d+)?|${numberWords.join('|')})[ -](second|minute|hour|day|week)s?\b`,
  'gi',
);
const number =
  /(?<![\p{L}\p{N}_.,-])[-+]?\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\p{L}\p{N}_])|(?<![\p{L}\p{N}_.-])-?\d+(?:\.\d+)?(?!\.?[\p{L}\p{N}_])/gu;

/**
 * Returns the values of a sentence that the cited text does not contain: quotations, times, durations, addresses, hashes, links, paths,
 * identifiers and numbers. Each is compared by value: `18:41` with a time of that minute, `1,000` with `1000`, `two minutes` with the time between
 * two rows. Ordinary words are not compared. `isTechnique` returns whether ATT&CK has a technique.
 */
export function findUnstatedValues(
  sentence: string,
  cited: CitedText,
  isTechnique: (id: string) => boolean = () => true,
): string[] {
  const text = normalizeText(cited.texts.join('\n'));
  const stated = new Set(cited.texts.flatMap(listNumbers));
  const numbers = new Set([...cited.counts, ...stated]);
  const times = [...cited.times, ...cited.texts.flatMap(listTimes)];
  const contains = (value: string): boolean => containsWhole({ text }, normalizeText(value).trim());
  const missing: string[] = [];
  let rest = withoutWholeValues(sentence, cited.texts);
  const compare = (pattern: RegExp, isStated: (...groups: (string | undefined)[]) => boolean): void => {
    rest = rest.replaceAll(pattern, (match: string, ...groups: (string | undefined)[]) => {
      if (!isStated(match, ...groups)) missing.push(match);
      return ' ';
    });
  };
  compare(quoted, (_, ...marks) => contains(marks.find((mark) => mark !== undefined) ?? ''));
  compare(techniqueId, (id) => isTechnique(id!));
  compare(instant, (match, date, time) => contains(match!) || times.some((one) => isTime(one, date, time)));
  compare(dayFirst, (_, day, name, year) => times.some((one) => isDay(one, day!, name!, year)));
  compare(monthFirst, (_, name, day, year) => times.some((one) => isDay(one, day!, name!, year)));
  compare(duration, (match, count, unit) => contains(match!) || isSpan(times, stated, count!, unit!));
  compare(clock, (match) => contains(match!) || times.some((one) => isTime(one, undefined, match)));
  for (const word of listIdentifiers(rest)) {
    rest = rest.replaceAll(word, ' ');
    if (!contains(word)) missing.push(word);
  }
  compare(number, (match) => containsNumber({ numbers }, match!.replaceAll(/[,+]/g, '')));
  return missing;
}

const wholeMin = 3;

/** Blanks complete cited values, whose periods and numbers are theirs. */
function withoutWholeValues(sentence: string, texts: readonly string[]): string {
  const values = [...new Set(texts)].filter((value) => value.length >= wholeMin && /\p{L}|\d\D/u.test(value));
  return values
    .toSorted((a, b) => b.length - a.length)
    .reduce((rest, value) => {
      const escaped = value.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
      return rest.replaceAll(new RegExp(String.raw`(?<![\p{L}\p{N}_.-])${escaped}(?!\.?[\p{L}\p{N}_-])`, 'giu'), ' ');
    }, sentence);
}

const listNumbers = (text: string): number[] =>
  [...text.matchAll(number)].map(([match]) => Number(match.replaceAll(/[,+]/g, '')));

function listTimes(text: string): Date[] {
  const found = [...text.matchAll(/\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?/g)];
  const times = found.map(
    ([match]) => new Date(/Z$|[+-]\d\d:?\d\d$/.test(match.slice(10)) || match.length === 10 ? match : `${match}Z`),
  );
  return times.filter((time) => !Number.isNaN(time.getTime()));
}

/** Returns whether a time is that of a date, a time of day in UTC, or both, at the precision in which they are given. */
function isTime(time: Date, date: string | undefined, timeOfDay: string | undefined): boolean {
  const text = time.toISOString();
  if (date !== undefined && !text.startsWith(date)) return false;
  return (
    timeOfDay === undefined ||
    text.slice(11).startsWith(timeOfDay.padStart(timeOfDay.indexOf(':') === 1 ? timeOfDay.length + 1 : 0, '0'))
  );
}

const isDay = (time: Date, day: string, name: string, year: string | undefined): boolean =>
  time.getUTCDate() === Number(day) &&
  months[time.getUTCMonth()]!.startsWith(name) &&
  (year === undefined || time.getUTCFullYear() === Number(year));

/** Returns whether two of the times lie this far apart, rounded to the unit, or whether the number is stated itself. */
function isSpan(times: readonly Date[], numbers: ReadonlySet<number>, count: string, unit: string): boolean {
  const word = numberWords.indexOf(count.toLowerCase());
  const n = word === -1 ? Number(count) : word;
  if (numbers.has(n)) return true;
  const ms = unitMs[unit.toLowerCase()]!;
  const all = times.map((time) => time.getTime());
  return all.some((a) => all.some((b) => a < b && Math.abs((b - a) / ms - n) <= 0.5));
}

const identifierMin = 8;

/**
 * Lists the words whose form is that of a value: with a digit or a letter after one of `. @ \ / : _ $ #`, or long with several digits, as hashes
 * and IDs. Two plain words with a slash between them, and abbreviations, are words.
 */
function listIdentifiers(text: string): string[] {
  return text.split(/[\s"“”«»`<>|,;()[\]{}]+/u).flatMap((raw) => {
    const word = raw.replace(/^[^\p{L}\p{N}/\\.$#%@_-]+|[^\p{L}\p{N}/\\$%_-]+$/gu, '').replace(/['’]s$/u, '');
    if (/^\p{L}+(?:\/\p{L}+)+$/u.test(word) || /^(?:\p{L}\.)+\p{L}?$/u.test(word) || /^[\d.,%+-]*$/.test(word))
      return isAddress(word) ? [word] : [];
    const isJoined = /[.@\\/:_$#=][\p{L}\p{N}]/u.test(word);
    const isLong = word.length >= identifierMin && (word.match(/\d/g)?.length ?? 0) >= 2;
    return isJoined || isLong ? [word] : [];
  });
}

const isAddress = (word: string): boolean => /^\d{1,3}(?:\.\d{1,3}){3}$/.test(word);
