import { expect, inject, test } from 'vitest';
import { sql, type RawBuilder } from 'kysely';
import { testDatabase } from '../support/database.ts';
import { acrossOrgs, queryRow, queryRows } from '../../src/platform/db/db.ts';
import { compareRows } from '../support/rows/compare-rows.ts';
import { findRowSites } from '../support/rows/row-sites.ts';

const text = 25;
const timestamptz = 1184;
const compare = (declared: Record<string, string[]>, name: string, dataTypeID: number, rows: object[] = []) =>
  compareRows(declared, { fields: [{ name, dataTypeID }], rows });

test.each<[string, string[], string[]]>([
  ['the declared column', compare({ id: ['string'] }, 'id', text), []],
  ['a wrong type', compare({ id: ['number'] }, 'id', text), ['id is string, declared as number']],
  ['an instant as text', compare({ id: ['string'] }, 'id', timestamptz), ['id is Date, declared as string']],
  ['a missing column', compare({ id: ['string'], name: ['string'] }, 'id', text), ['the column name is missing']],
  ['an optional column', compare({ id: ['string'], name: ['string', 'undefined'] }, 'id', text), []],
  ['an additional column', compare({}, 'id', text), ['the column id is not declared']],
  ['a null', compare({ id: ['string'] }, 'id', text, [{ id: null }]), ['id is null, declared as string']],
  ['a null that is declared', compare({ id: ['string', 'null'] }, 'id', text, [{ id: null }]), []],
])('compares %s', (_, differences, expected) => expect(differences).toEqual(expected));

test('finds the statements of a file with their places', () => {
  const source =
    'const a = 1;\nawait queryRow<Pick<Row, "id">>(tx)`…`;\nconst b = sql<boolean>`true`; // queryRows(tx)';
  expect(findRowSites('src/a.ts', source)).toMatchObject([
    { key: 'src/a.ts:2:7', name: 'queryRow', type: 'Pick<Row, "id">' },
    { key: 'src/a.ts:3:11', name: 'sql', type: 'boolean' },
  ]);
});

type Check = <F>(key: string, original: F) => F;
const { checkRows } = globalThis as unknown as { checkRows: Check };
// A statement whose type declares other columns than those that the tests select.
const key = 'src/platform/db/database-clock.ts';

test('rejects a statement whose result differs from its type, with its file and line', async () => {
  const { db } = await testDatabase();
  const place = Object.keys(inject('declaredRows')).find((name) => name.startsWith(key))!;
  const wrong = sql`select 'today' as now`;
  const message = `${place}: now is string, declared as Date.`;
  for (const run of [queryRows, queryRow]) {
    await expect(acrossOrgs(db, (tx) => checkRows(place, run)(tx, wrong))).rejects.toThrow(message);
  }
  const build = checkRows(place, sql as unknown as (strings: TemplateStringsArray) => RawBuilder<unknown>);
  await expect(acrossOrgs(db, (tx) => build`select now() as now, 1 as more`.execute(tx))).rejects.toThrow(
    'the column more is not declared',
  );
  expect(await acrossOrgs(db, (tx) => checkRows(place, queryRow)(tx, sql`select now()`))).toBeDefined();
});
