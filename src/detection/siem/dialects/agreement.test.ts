import fc from 'fast-check';
import pg from 'pg';
import { expect, test } from 'vitest';
import { testDatabase } from '../../../../test/support/database.ts';
import {
  event,
  expression,
  fieldNames,
  plainMatch,
  readFuzz,
} from '../../../../test/support/detection/sigma/sigma-fuzz.ts';
import { matchesEvent } from '../../../../test/support/detection/sigma/sigma-events.ts';
import type { Expression, ValueTest } from '../../matching/expression.ts';
import { parsePattern } from '../../matching/text-pattern.ts';
import type { RuleQuery } from './dialect.ts';
import { postgres } from './postgres.ts';

const events = fc.sample(event, { numRuns: 60, seed: 1 });
const conditions = fc.sample(expression, { numRuns: 120, seed: 2 });
const query = (where: Expression): RuleQuery => ({
  table: 'd',
  time: 'n',
  fields: fieldNames.map((name) => ({ name, names: [name] })),
  columns: ['f'],
  constants: { severity: 'low' },
  where,
});
const expectedOf = (where: Expression): number[] =>
  events.flatMap((one, n) => (plainMatch(where, readFuzz(one)) ? [n] : []));

test('the evaluator agrees with a plain evaluator', () => {
  for (const where of conditions)
    expect([where, events.flatMap((one, n) => (matchesEvent(where, one) ? [n] : []))]).toEqual([
      where,
      expectedOf(where),
    ]);
});

test('PostgreSQL agrees with a plain evaluator', async () => {
  const { url } = await testDatabase();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`create table d (n int, f text, g text, "Deep" jsonb, "with space" text, "quo'te" text)`);
  for (const [n, one] of events.entries())
    await client.query('insert into d values ($1, $2, $3, $4, $5, $6)', [
      n,
      one.f,
      one.g,
      one.Deep,
      one['with space'],
      one["quo'te"],
    ]);
  for (const where of conditions) {
    const sql = postgres.writeRule(query(where)).replace('$window', 'true');
    const { rows } = await client.query<{ n: number }>(sql);
    expect([sql, rows.map(({ n }) => n).toSorted((a, b) => a - b)]).toEqual([sql, expectedOf(where)]);
  }
  await client.end();
});

/** A condition on a field, or on the whole row, and the rows that it matches. */
const tricky: [ValueTest, string | null, number[]][] = [
  [{ kind: 'text', pattern: parsePattern('*c:\\win "x"*'), cased: false }, null, [1]],
  [{ kind: 'text', pattern: parsePattern('*Inner*'), cased: true }, null, [1]],
  [{ kind: 'regex', source: '^[a-c]{2,600}$', flags: [] }, 'f', [0]],
  [{ kind: 'regex', source: 'a{300,}', flags: [] }, 'f', [0]],
  [{ kind: 'regex', source: '^a{301}$', flags: [] }, 'f', []],
];

test('PostgreSQL finds keywords in the whole row, and more than 255 repetitions', async () => {
  const { url } = await testDatabase();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`create table d (n int, f text, g text, "Deep" jsonb, "with space" text, "quo'te" text)`);
  await client.query(`insert into d values (0, repeat('a', 300), null, null), (1, 'b', null, $1)`, [
    JSON.stringify({ Inner: 'C:\\WIN "x"' }),
  ]);
  for (const [of, field, expected] of tricky) {
    const sql = postgres.writeRule(query({ kind: 'match', field, test: of })).replace('$window', 'true');
    const { rows } = await client.query<{ n: number }>(sql);
    expect([sql, rows.map(({ n }) => n)]).toEqual([sql, expected]);
  }
  await client.end();
});

test('PostgreSQL cannot repeat a group more than 255 times', () => {
  const where: Expression = { kind: 'match', field: 'f', test: { kind: 'regex', source: '(ab){256}', flags: [] } };
  expect(() => postgres.writeRule(query(where))).toThrow('at most 255 times');
});
