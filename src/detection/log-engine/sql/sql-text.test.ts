import { expect, test } from 'vitest';
import { duck, joinSql, quoteIdentifier, quoteLiteral, typeSql } from './sql-text.ts';

test('composes quoted names and values', () => {
  const list = joinSql(['a', 'order', 'x"y'].map(quoteIdentifier));
  expect(duck`SELECT ${list} FROM t WHERE a = ${quoteLiteral("o'x")} LIMIT ${5}`).toBe(
    `SELECT "a", "order", "x""y" FROM t WHERE a = 'o''x' LIMIT 5`,
  );
  expect([typeSql('NULL'), typeSql('NULL[]'), typeSql('BIGINT[]')]).toEqual(['VARCHAR', 'VARCHAR[]', 'BIGINT[]']);
});

test('a name that is not quoted is a type error', () => {
  const name: string = 'order';
  // @ts-expect-error Names go through quoteIdentifier.
  expect(duck`SELECT * FROM ${name}`).toBe('SELECT * FROM order');
  // @ts-expect-error Parts are SQL.
  expect(joinSql([name])).toBe('order');
});
