import { isPathHosting } from '../indicators/assessment/benign-values.ts';
import { reportLanguages } from '../lexicon/languages.ts';
import { toPublisherHost } from '../../model/source-record.ts';
import { findOwnDomain } from '../../reference-data/shared-suffixes.ts';

const openingMaxChars = 900;
const separators = '[:–—|·•-]';

type DatePatterns = {
  /** A date beside a word for it: `Published on: March 2, 2026`. */
  labeled: RegExp;
  /** A line that is little else than a date. */
  alone: RegExp;
  /** A heading that begins or ends with a date. */
  heading: RegExp;
};
let datePatterns: DatePatterns | undefined;

function getDatePatterns(): DatePatterns {
  if (datePatterns) return datePatterns;
  const { months: month, weekdays } = listDateNames();
  const forms = [
    String.raw`(?<y0>20\d\d)[-./](?<n0>\d{1,2})[-./](?<d0>\d{1,2})`,
    String.raw`(?<y1>20\d\d) ?[年년] ?(?<n1>\d{1,2}) ?[月월] ?(?<d1>\d{1,2}) ?[日일]`,
    String.raw`(?<d2>\d{1,2})\.(?<n2>\d{1,2})\.(?<y2>20\d\d)`,
    // Numbers between strokes only where they cannot be read in two ways.
    String.raw`(?<d5>1[3-9]|2\d|3[01])/(?<n5>\d{1,2})/(?<y5>20\d\d)`,
    String.raw`(?<n6>0?[1-9]|1[0-2])/(?<d6>1[3-9]|2\d|3[01])/(?<y6>20\d\d)`,
    String.raw`(?<m3>${month}) (?<d3>\d{1,2})(?:st|nd|rd|th)?,? (?<y3>20\d\d)`,
    String.raw`(?<d4>\d{1,2})(?:st|nd|rd|th|er|º|\.)? (?:de )?(?<m4>${month}),?(?: del?)? (?<y4>20\d\d)`,
  ];
  const date = `(?:${weekdays},? )?(?:${forms.join('|')})(?!\\d)`;
  datePatterns = {
    labeled: new RegExp(
      String.raw`(?<!\p{L})(?:published|posted|released|updated|issued|last modified|date|veröffentlicht|erschienen|publiée?|publicado|publicada|pubblicat[oa]|gepubliceerd|opublikowan[oey]|опубликован[оа]?|опубліковано|дата(?: публикации)?|fecha|data|datum|发布(?:时间|日期)?|發布(?:時間|日期)?|公開日?|게시일|등록일|작성일)(?: by [^\n]{1,60}?)?(?: date)?(?: on| at| le| am| el| em| il| op)?\s?[:：|]?\s{0,3}${date}`,
      'iu',
    ),
    alone: new RegExp(String.raw`^[^\p{L}\d\n]{0,4}${date}(?:[^\p{L}\n].{0,40})?$`, 'imu'),
    heading: new RegExp(String.raw`^(?:[^\n]{3,160}?${separators} )?${date}(?=\s*(?:$|[(|·•]))`, 'imu'),
  };
  return datePatterns;
}

const inPath = /[/_-](20\d\d)[/_-]?(0[1-9]|1[0-2])[/_-]?(0[1-9]|[12]\d|3[01])(?![\d])/;

/**
 * Returns the publisher of a report by its address: the owner of a repository or folder on shared hosting, else the registered domain.
 * Undefined without an address.
 */
export function findPublisher(sourceUrl: string | undefined): string | undefined {
  const host = toPublisherHost(sourceUrl);
  if (!host) return undefined;
  const [owner] = new URL(sourceUrl!).pathname.split('/').filter(Boolean);
  return isPathHosting(host) && owner ? owner : (findOwnDomain(host) ?? host);
}

/**
 * Returns the day on which a report was published as ISO text, as its opening lines or its address state it. Dates of events in
 * sentences do not count. Undefined if neither states a day.
 */
export function findPublishTime(text: string, sourceUrl: string | undefined): string | undefined {
  const opening = text.slice(0, openingMaxChars);
  const { labeled, alone, heading } = getDatePatterns();
  for (const pattern of [labeled, alone, heading]) {
    const time = toTime(pattern.exec(opening)?.groups);
    if (time) return time;
  }
  const [, year, monthNumber, day] = inPath.exec(sourceUrl ?? '') ?? [];
  return year ? toIsoDay(Number(year), Number(monthNumber) - 1, Number(day)) : undefined;
}

function toTime(groups: Record<string, string | undefined> | undefined): string | undefined {
  if (!groups) return undefined;
  const value = (name: string): string | undefined =>
    Object.entries(groups).find(([group, text]) => group[0] === name && text !== undefined)?.[1];
  const month = value('m');
  const monthIndex = month === undefined ? Number(value('n')) - 1 : listDateNames().monthIndexOf(month);
  return toIsoDay(Number(value('y')), monthIndex, Number(value('d')));
}

/** Returns midnight of a day in UTC, or undefined if the month does not have that day. */
function toIsoDay(year: number, monthIndex: number, day: number): string | undefined {
  const time = new Date(Date.UTC(year, monthIndex, day));
  return time.getUTCMonth() === monthIndex && time.getUTCDate() === day ? time.toISOString() : undefined;
}

// Dates in languages without spaces are numbers.
const languages = ['en', 'cs', 'tr'].concat(
  Object.entries(reportLanguages).flatMap(([code, { isUnspaced }]) => (isUnspaced ? [] : [code])),
);
const styles = ['long', 'short'] as const;

type DateNames = { months: string; weekdays: string; monthIndexOf: (name: string) => number };

let names: DateNames | undefined;

/**
 * Returns patterns for the names of months and weekdays in the languages of reports, as they stand in a date, and the index of a month. The
 * names are those of the runtime's locale data. Created once per process.
 */
function listDateNames(): DateNames {
  if (names) return names;
  const months = new Map<string, number>([['sept', 8]]);
  const weekdays = new Set(['tues', 'thur', 'thurs']);
  for (const language of languages)
    for (const style of styles) {
      const format = new Intl.DateTimeFormat(language, {
        day: 'numeric',
        month: style,
        weekday: style,
        timeZone: 'UTC',
      });
      for (let index = 0; index < 12; index += 1) {
        const parts = format.formatToParts(new Date(Date.UTC(2026, index, index + 1)));
        const name = readName(parts, 'month');
        if (name && !months.has(name)) months.set(name, index);
        const weekday = readName(parts, 'weekday');
        if (weekday) weekdays.add(weekday);
      }
    }
  names = {
    months: toPattern(months.keys()),
    weekdays: toPattern(weekdays),
    monthIndexOf: (name) => months.get(toKey(name)) ?? -1,
  };
  return names;
}

function readName(parts: Intl.DateTimeFormatPart[], part: 'month' | 'weekday'): string | undefined {
  const name = toKey(parts.find(({ type }) => type === part)?.value ?? '');
  return /^\p{L}{2,}(?:-\p{L}+)?$/u.test(name) ? name : undefined;
}

const toPattern = (all: Iterable<string>): string =>
  `(?:${[...all].toSorted((a, b) => b.length - a.length).join('|')})\\.?`;

const toKey = (name: string): string => name.toLowerCase().replace(/\.$/, '');
