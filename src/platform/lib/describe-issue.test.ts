import { expect, test } from 'vitest';
import { z } from 'zod';
import { describeIssue } from './describe-issue.ts';

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
