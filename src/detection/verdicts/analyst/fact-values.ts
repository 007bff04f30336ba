import type { Facts } from '../../analysis/candidate.ts';

/** Returns a number of the facts as text. */
export function readNumber(facts: Facts, name: string): string {
  const value = facts[name];
  return typeof value === 'number' ? String(value) : 'an unknown number';
}

const unknownTime = 'an unknown time';

/** Returns the date and the time of day of a fact. Leaves out seconds that are zero, and fractions of a second. */
function readTime(facts: Facts, name: string): { date: string; time: string } | undefined {
  const value = facts[name];
  const [, date, minute, second] =
    (typeof value === 'string' && /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)(:\d\d)?/.exec(value)) || [];
  return date && minute ? { date, time: second === ':00' ? minute : `${minute}${second ?? ''}` } : undefined;
}

/** Returns a time of the facts: `2026-03-02 14:00 UTC`. */
export function describeTime(facts: Facts, name: string): string {
  const at = readTime(facts, name);
  return at ? `${at.date} ${at.time} UTC` : unknownTime;
}

/** Returns two times of the facts: `2026-03-02 14:00 to 15:00 UTC`. */
export function describeTimeRange(facts: Facts, from: string, to: string): string {
  const [start, end] = [readTime(facts, from), readTime(facts, to)];
  if (!start || !end) return `${describeTime(facts, from)} to ${describeTime(facts, to)}`;
  return `${start.date} ${start.time} to ${start.date === end.date ? '' : `${end.date} `}${end.time} UTC`;
}

export function readList(facts: Facts, name: string): string[] {
  const value = facts[name];
  return Array.isArray(value) ? value.map(String) : [];
}

/** Returns a number of the facts with its noun: `1 row`, `3 rows`. */
export function countOf(facts: Facts, name: string, noun: string): string {
  return `${readNumber(facts, name)} ${noun}${facts[name] === 1 ? '' : 's'}`;
}

const plainUnit = /^(?:count|total|number|sum|value|n|cnt)$/i;

/** Returns the number of a baseline with what it counts: `7 rows`, `a count of 250` or `250 bytes_sent`, after the name of the column. */
export function describeMeasure(facts: Facts): string {
  const { unit } = facts;
  if (typeof unit !== 'string') return readNumber(facts, 'count');
  if (unit === 'rows') return countOf(facts, 'count', 'row');
  return plainUnit.test(unit)
    ? `a ${/^(?:n|cnt)$/i.test(unit) ? 'count' : unit.toLowerCase()} of ${readNumber(facts, 'count')}`
    : `${readNumber(facts, 'count')} ${unit}`;
}

/** Returns how many steps a sequence has: `both steps` or `all 3 steps`. */
export const describeSteps = (facts: Facts): string =>
  facts['steps'] === 2 ? 'both steps' : `all ${readNumber(facts, 'steps')} steps`;
