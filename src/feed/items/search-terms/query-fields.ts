import type { Published } from '../list-query/filters.sql.ts';

/** The parameters that a search can set within its text, by the names that people type. */
const parameterByField: Record<string, string> = {
  actor: 'actor',
  cve: 'cve',
  indicator: 'indicator',
  ioc: 'indicator',
  malware: 'malware',
  platform: 'platform',
  publisher: 'source',
  rule: 'rule',
  severity: 'severity',
  source: 'source',
  status: 'status',
  technique: 'technique',
  tool: 'tool',
};

/** A phrase, which is text whatever it contains, or a word with a field in front, whose value may be in quotation marks. */
const phraseOrField = /"[^"]*"?|(?<!\S)([a-z]+):(?:"([^"]+)"|([^\s"]+))(?!\S)/gi;

/**
 * Returns the parameters that `field:value` sets in a search text, and the rest of the text. `isValid` decides whether a value fits its parameter. A
 * field that does not, or whose parameter is set already, remains text.
 */
export function readQueryFields(
  text: string,
  isValid: (parameter: string, value: string) => boolean,
): { text: string; parameters: Record<string, string> } {
  const parameters: Record<string, string> = {};
  const rest = text.replaceAll(phraseOrField, (printed, field?: string, quoted?: string, word?: string) => {
    const parameter = field && parameterByField[field.toLowerCase()];
    const value = (quoted ?? word ?? '').trim();
    if (!parameter || value === '' || parameter in parameters || !isValid(parameter, value)) return printed;
    parameters[parameter] = value;
    return ' ';
  });
  return { text: rest.trim(), parameters };
}

const dayMs = 86_400_000;
const months = 'january february march april may june july august september october november december'.split(' ');
const month = String.raw`(?:${months.map((name) => `${name.slice(0, 3)}(?:${name.slice(3)})?`).join('|')}|sept)`;
const year = String.raw`(?:19[89]|20\d)\d`;
const isoDate = String.raw`${year}-(?:0[1-9]|1[0-2])(?:-(?:0[1-9]|[12]\d|3[01]))?`;
const date = String.raw`(?:${isoDate}|(?:${month}\s+)?${year})`;
/** A year alone is often part of a product's name, so it counts only after a preposition. */
const dated = String.raw`(?:since|after|before|until|in|during|from)\s+${date}|${month}\s+${year}|${isoDate}`;
const relative = String.raw`today|yesterday|(?:this|last|past)\s+(?:week|month|quarter|year)|(?:in\s+the\s+)?(?:last|past)\s+\d{1,3}\s+(?:day|week|month|year)s?`;
const periodWords = new RegExp(String.raw`(?<![\w-])(?:${relative}|${dated})(?![\w-])`, 'i');

/** Returns the first words of a search text that state a time, outside of quotation marks, and the rest of the text. */
export function splitPeriod(text: string): { text: string; period: string | undefined } {
  const found = text.includes('"') ? null : periodWords.exec(text);
  if (!found) return { text, period: undefined };
  const rest = `${text.slice(0, found.index)} ${text.slice(found.index + found[0].length)}`;
  return { text: rest.replaceAll(/\s+/g, ' ').trim(), period: found[0].toLowerCase().replaceAll(/\s+/g, ' ') };
}

/** Returns whether words of `splitPeriod` state a date, which a text may contain as well. */
export const isDate = (period: string): boolean => /\d{4}/.test(period);

/** Returns the period that words of `splitPeriod` mean at a time, in whole days of UTC. */
export function readPeriod(words: string, now: Date): Published {
  const today = Math.floor(now.getTime() / dayMs) * dayMs;
  const back = (days: number): Published => ({ from: iso(today - days * dayMs) });
  if (words === 'today') return back(0);
  if (words === 'yesterday') return { ...back(1), until: iso(today) };
  const counted = /(\d+) (day|week|month|year)s?$/.exec(words);
  if (counted) return back(Number(counted[1]) * daysOf[counted[2]!]!);
  const [, which, unit] = /^(this|last|past) (week|month|quarter|year)$/.exec(words) ?? [];
  if (unit) return readUnit(which!, unit, now);
  const [, preposition = 'in', stated = words] = /^(since|after|before|until|in|during|from) (.+)$/.exec(words) ?? [];
  const { from, until } = readDate(stated);
  if (preposition === 'since') return { from: iso(from) };
  if (preposition === 'after') return { from: iso(until) };
  if (preposition === 'before') return { until: iso(from) };
  return preposition === 'until' ? { until: iso(until) } : { from: iso(from), until: iso(until) };
}

const daysOf: Record<string, number> = { day: 1, week: 7, month: 30, quarter: 91, year: 365 };

/** `this` is the calendar's unit so far. `last` and `past` are the days that it has, up to now. */
function readUnit(which: string, unit: string, now: Date): Published {
  const today = Math.floor(now.getTime() / dayMs) * dayMs;
  if (which !== 'this') return { from: iso(today - daysOf[unit]! * dayMs) };
  const [y, m] = [now.getUTCFullYear(), now.getUTCMonth()];
  const starts: Record<string, number> = {
    week: today - ((now.getUTCDay() + 6) % 7) * dayMs,
    month: Date.UTC(y, m),
    quarter: Date.UTC(y, m - (m % 3)),
    year: Date.UTC(y, 0),
  };
  return { from: iso(starts[unit]!) };
}

/** Reads a year, a month of a year, or a day. */
function readDate(text: string): { from: number; until: number } {
  const [y, m, d] = text.split('-').map(Number) as [number, number?, number?];
  if (d !== undefined) return { from: Date.UTC(y, m! - 1, d), until: Date.UTC(y, m! - 1, d + 1) };
  if (m !== undefined) return { from: Date.UTC(y, m - 1), until: Date.UTC(y, m) };
  const [name, of] = text.includes(' ') ? text.split(' ') : [undefined, text];
  if (name === undefined) return { from: Date.UTC(Number(of), 0), until: Date.UTC(Number(of) + 1, 0) };
  const place = months.findIndex((one) => one.startsWith(name.slice(0, 3)));
  return { from: Date.UTC(Number(of), place), until: Date.UTC(Number(of), place + 1) };
}

const iso = (ms: number): string => new Date(ms).toISOString();
