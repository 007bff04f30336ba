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

test('replaces lone surrogates', async () => {
  const { db } = await testDatabase();
  const rows = [{ name: 'half \ud83d\udca5 of one: \ud83d.' }];
  const stored = await acrossOrgs(db, (tx) => queryRows(tx, sql`select * from ${toRecordset(rows, { name: 'text' })}`));
  expect(stored).toEqual([{ name: 'half 💥 of one: \ufffd.' }]);
});
