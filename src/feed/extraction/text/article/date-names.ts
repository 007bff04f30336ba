import { reportLanguages } from '../../lexicon/languages.ts';

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
export function listDateNames(): DateNames {
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
