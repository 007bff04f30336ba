import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { testDatabase } from '../../../test/support/database.ts';
import { acrossOrgs, queryRows } from './db.ts';
import { toRecordset } from './recordset.ts';

const types = { name: 'text', at: 'timestamptz', tags: 'text[]', n: 'int' };

test('keeps every text, time, list and null', async () => {
  const { db } = await testDatabase();
  const rows = [
    {
      name: 'a "quoted" \\ud800 \\ text,\n{with} 𝒂',
      at: new Date('2026-01-02T03:04:05.678Z'),
      tags: ['a,b', ''],
      n: 1,
    },
    { name: null, at: null, tags: [], n: null },
  ];
  const stored = await acrossOrgs(db, (tx) => queryRows(tx, sql`select * from ${toRecordset(rows, types)}`));
  expect(stored).toEqual(rows);
});

test('keeps columns that have the same value in all rows', async () => {
  const { db } = await testDatabase();
  const same = { at: new Date('2026-01-02T03:04:05.678Z'), tags: ['a,b', '"'], n: null };
  const rows = [
    { name: 'half \ud83d', ...same },
    { name: 'half \ud83d', ...same },
  ];
  const read = (some: typeof rows) =>
    acrossOrgs(db, (tx) => queryRows(tx, sql`select * from ${toRecordset(some, types)}`));
  const expected = rows.map((row) => ({ ...row, name: 'half \ufffd' }));
  expect(await read(rows)).toEqual(expected);
  expect(await read(rows.slice(1))).toEqual(expected.slice(1));
  expect(await read([])).toEqual([]);
});

test('replaces lone surrogates', async () => {
  const { db } = await testDatabase();
  const text = 'half \ud83d\udca5 of one: \ud83d.';
  const rows = [
    { name: text, other: text },
    { name: '', other: text },
  ];
  const types = { name: 'text', other: 'text' };
  const stored = await acrossOrgs(db, (tx) => queryRows(tx, sql`select * from ${toRecordset(rows, types)}`));
  const whole = 'half 💥 of one: \ufffd.';
  expect(stored).toEqual([
    { name: whole, other: whole },
    { name: '', other: whole },
  ]);
});
