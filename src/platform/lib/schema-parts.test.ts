import { expect, test } from 'vitest';
import { z } from 'zod';
import { isInstant } from './schema-parts.ts';
import { describeIssue } from './schema-parts.ts';

test.each([
  ['2026-03-02T00:00:00Z', true],
  ['2026-03-02T00:00:00.123456+14:00', true],
  ['0001-01-01T00:00:00Z', true],
  ['9999-12-31T23:59:59.999Z', true],
  ['0000-12-31T23:59:59Z', false],
  ['0001-01-01T00:00:00+00:01', false],
  ['9999-12-31T23:59:59-00:01', false],
  ['2026-02-30T00:00:00Z', false],
  ['2026-03-02', false],
  ['yesterday', false],
])('isInstant(%s) is %s', (text, expected) => {
  expect(isInstant(text)).toBe(expected);
});

const describe = (schema: z.ZodType, value: unknown): string =>
  describeIssue(schema.safeParse(value).error!.issues[0]!.message);

test.each([
  [z.string(), undefined, 'is missing'],
  [z.enum(['low', 'high']), 'huge', 'must be one of low, high'],
  [z.literal('hide'), 'show', 'must be hide'],
  [z.literal(2), 1, 'must be 2'],
  [z.array(z.string()).min(1), [], 'must have at least 1 item'],
  [z.array(z.string()).max(2), ['a', 'b', 'c'], 'must have at most 2 items'],
  [z.string().max(3), 'long', 'must have at most 3 characters'],
  [z.number().min(0), -1, 'must be at least 0'],
  [z.number().max(0.5), 1, 'must be at most 0.5'],
  [z.number().positive(), 0, 'must be more than 0'],
  [z.iso.datetime(), 'tomorrow', 'must be an RFC 3339 time such as 2026-03-02T00:00:00Z'],
  [z.iso.date(), 'tomorrow', 'must be a date such as 2026-03-02'],
  [z.string(), 1, 'must be a string'],
  [z.number(), '1', 'must be a number'],
  [z.int(), 1.5, 'must be an integer'],
  [z.boolean(), 'yes', 'must be true or false'],
  [z.array(z.string()), 'a', 'must be an array'],
  [z.object({}), 'a', 'must be an object'],
  [z.record(z.string(), z.string()), null, 'must be an object'],
  [z.string().refine(() => false, 'must not be blank'), '', 'must not be blank'],
])('describes what is wrong (%#)', (schema, value, detail) => {
  expect(describe(schema, value)).toBe(detail);
});
