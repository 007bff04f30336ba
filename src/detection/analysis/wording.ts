import { truncateText } from '../../platform/lib/text/canonical-text.ts';
import type { Candidate, Facts } from './candidate.ts';

/** Returns a number of the facts, or 0. */
export function numberOf(facts: Facts, name: string): number {
  const value = facts[name];
  return typeof value === 'number' ? value : 0;
}

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
/** Shortens a value for a sentence. Cuts only between words, because part of a name or address would be a different one. Returns '' if that is impossible. */
export function quoteValue(value: string, max: number): string {
  if (value.length <= max) return value;
  const end = value.slice(0, max + 1).search(/[\s,;][^\s,;]*$/);
  return end > 0 ? `${value.slice(0, end)} …` : '';
}

/** The most characters of a quoted value, by where it is quoted. */
export const quoteCharsMax = { action: 80, headline: 120, values: 200 };

/** Shortens values for a sentence and drops those that cannot be shortened. */
export function quoteValues(values: readonly string[], max: number): string[] {
  return values.map((value) => quoteValue(value, max)).filter((value) => value !== '');
}

/** Joins values in quotation marks: `“a”, “b” and “c”`. */
export function joinQuoted(values: readonly string[]): string {
  const quoted = values.map((value) => `“${value}”`);
  return quoted.length < 2 ? quoted.join('') : `${quoted.slice(0, -1).join(', ')} and ${quoted.at(-1)}`;
}

/** Shortens a text between words if possible, otherwise anywhere. */
export function truncateAtWord(text: string, max: number): string {
  return text.length <= max ? text : quoteValue(text, max - 2) || truncateText(text, max);
}
const typeLabels: Record<string, string> = { ip: 'IP address', access_key: 'access key', url: 'URL' };

/** How sentences refer to the entity of a candidate: in a headline, within a sentence, and at its beginning. */
export type Subject = { plain: string; quoted: string; start: string };

export function nameSubject({ entity, entityType }: Pick<Candidate, 'entity' | 'entityType'>): Subject {
  if (entity === '*') return { plain: 'the whole window', quoted: 'the whole window', start: 'The whole window' };
  if (entity === '') return nameWithheld(entityType);
  const label = entityType === 'entity' ? '' : `${typeLabels[entityType] ?? entityType} `;
  const quoted = `${label}“${entity}”`;
  return { plain: `${label}${entity}`, quoted, start: quoted.charAt(0).toUpperCase() + quoted.slice(1) };
}

/** An entity whose name is addressed to a model is not quoted. */
function nameWithheld(entityType: string): Subject {
  const type = entityType === 'entity' ? 'entity' : (typeLabels[entityType] ?? entityType);
  const text = `${/^[aeio]/i.test(type) ? 'an' : 'a'} ${type} whose name is not quoted here`;
  return { plain: text, quoted: text, start: text.charAt(0).toUpperCase() + text.slice(1) };
}

/** A headline template as its literal texts and, between them, the fields of its placeholders: one literal more than fields. */
type HeadlineTemplate = { literals: string[]; fields: string[] };

const fieldMax = 255;

/**
 * Parses a template such as `Shadow copies deleted on {{host}} by {{user}}`. A placeholder is the name of a field of the rows,
 * dotted for nested ones. Returns the problem of a text that is not a template.
 */
export function parseHeadlineTemplate(text: string): HeadlineTemplate | { problem: string } {
  if (/[\p{Cc}\p{Zl}\p{Zp}]/u.test(text)) return { problem: 'must be one line without control characters' };
  const literals: string[] = [];
  const fields: string[] = [];
  let from = 0;
  for (let open = text.indexOf('{{'); open !== -1; open = text.indexOf('{{', from)) {
    const close = text.indexOf('}}', open);
    if (close === -1) return { problem: `has a "{{" at character ${open + 1} without a "}}"` };
    const field = text.slice(open + 2, close).trim();
    if (field === '') return { problem: `has an empty placeholder at character ${open + 1}: write {{field}}` };
    if (/[{}]/.test(field)) return { problem: `has a placeholder with a brace in its name at character ${open + 1}` };
    if (field.length > fieldMax) return { problem: `has a placeholder with more than ${fieldMax} characters` };
    literals.push(text.slice(from, open));
    fields.push(field);
    from = close + 2;
  }
  literals.push(text.slice(from));
  const stray = literals.find((literal) => literal.includes('}}'));
  if (stray !== undefined) return { problem: 'has a "}}" without a "{{" before it' };
  if (!/\p{L}{2}/u.test(literals.join(' '))) return { problem: 'must have words besides its placeholders' };
  return { literals, fields };
}
