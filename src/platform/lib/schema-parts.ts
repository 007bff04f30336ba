import { z } from 'zod';
import { boundedString } from './text/bounded-text.ts';
import { isObject } from './json/json-values.ts';
import { isTimeZone } from './time/zoned-slots.ts';

/** The largest number that an `integer` column of PostgreSQL can store. */
export const integerMax = 2_147_483_647;

/** The largest time that a `Date` can have, in milliseconds since 1970. */
export const timeMax = 8_640_000_000_000_000;

/** What models cost, in US dollars. */
export const CostUsd = z.number().nullable().describe('Null if a model without a price had a part in it.');

/** Returns the schema of the revision that a change is based on. */
export const revisionInput = (max: number, description: string) =>
  z.int().min(0).max(max).optional().describe(description);

/** Describes text of a query or path that must be a whole number as the integer that it is, for the OpenAPI description. */
export const integerMeta = (minimum: number, maximum?: number): Record<string, unknown> => ({
  type: 'integer',
  minimum,
  ...(maximum !== undefined && { maximum }),
});

/** Returns a body schema that drops the named fields first, so that clients can send back read-only fields of a response. */
export const ignoreFields = <Body extends z.ZodType>(names: readonly string[], body: Body) =>
  z.preprocess(
    (value) =>
      isObject(value) ? Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name))) : value,
    body,
  );

const [first, last] = [Date.parse('0001-01-01T00:00:00.000Z'), Date.parse('9999-12-31T23:59:59.999Z')];

/** An RFC 3339 time. The database has no year 0, and in UTC the year must have four digits. */
export const Instant = z.iso
  .datetime({ offset: true, abort: true, error: 'must be an RFC 3339 time such as 2026-03-02T00:00:00Z' })
  .refine((text) => Date.parse(text) >= first && Date.parse(text) <= last, 'must be within the years 1 to 9999');

export const isInstant = (text: string): boolean => Instant.safeParse(text).success;

export const days = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
export type Day = (typeof days)[number];

export const TimeOfDay = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'must be a time of day such as 08:30');

export const TimeZone = z
  .string()
  .max(100)
  .refine(isTimeZone, 'must be a time zone of the IANA database, such as Europe/Oslo')
  .describe('IANA time zone, such as `Europe/Oslo`.');

const optionsPattern = /^Invalid option: expected one of (.+)$/s;
const literalPattern = /^Invalid input: expected ("[^]*"|-?\d+|true|false)$/;
const typePattern = /^Invalid input: expected (\w+), received/;
const boundPattern = /^Too (?:small|big): expected (\w+) to (?:have|be) ([<>]=?)(\S+)/;

/** Returns the message of a schema issue in the words of the API instead of zod's. Messages that a schema states itself stay as they are. */
export function describeIssue(message: string): string {
  if (message.endsWith('received undefined')) return 'is missing';
  const [, options] = optionsPattern.exec(message) ?? [];
  if (options !== undefined) return `must be one of ${options.replaceAll('"', '').split('|').join(', ')}`;
  const [, literal] = literalPattern.exec(message) ?? [];
  if (literal !== undefined) return `must be ${literal.replaceAll('"', '')}`;
  const [, expected = ''] = typePattern.exec(message) ?? [];
  if (expected in types) return `must be ${types[expected]}`;
  const [, type, comparison, bound] = boundPattern.exec(message) ?? [];
  if (bound !== undefined) return describeBound(type!, comparison!, bound);
  return messages[message] ?? message;
}

const messages: Record<string, string> = {
  'Invalid ISO date': 'must be a date such as 2026-03-02',
  'Invalid ISO datetime': 'must be an RFC 3339 time such as 2026-03-02T00:00:00Z',
};

/** The types of JSON by zod's names. */
const types: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  int: 'an integer',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
  record: 'an object',
};

const units: Record<string, string> = { array: 'item', string: 'character', record: 'field' };

function describeBound(type: string, comparison: string, bound: string): string {
  const unit = units[type];
  const limit = { '>=': 'at least', '<=': 'at most', '>': 'more than', '<': 'less than' }[comparison];
  return unit ? `must have ${limit} ${bound} ${unit}${bound === '1' ? '' : 's'}` : `must be ${limit} ${bound}`;
}

/** A setting of connections over TLS. */
export const caCertificate = boundedString({ max: 100_000 })
  .regex(/^-----BEGIN CERTIFICATE-----/, 'must be a PEM certificate')
  .optional()
  .describe('A PEM certificate to trust in addition to the public ones.');
