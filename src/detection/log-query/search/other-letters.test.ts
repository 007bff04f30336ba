import { describe, expect, test } from 'vitest';
import { startLogStore } from '../../../../test/support/detection/log-store.ts';

const { newOrg, send, search } = await startLogStore();
const org = await newOrg();
await send(org, 'd', [
  { n: 1, Ärger: 'groß', ΣΗΜΑ: 5, Straße: { Größe: { Ö: 3 } }, 'É.À': 'flat', Имя: 'ana' },
  { n: 2, Ärger: 'klein', ΣΗΜΑ: 6, Straße: { Größe: { Ö: 4 } }, 'É.À': 'other', Имя: 'eve' },
]);
await send(org, 'e', [{ m: 1, ÄRGER: 'groß' }]);

describe('matches names in any case of letters beyond ASCII:', () => {
  test.each([
    "SELECT n FROM d WHERE ärger = 'groß'",
    "SELECT n FROM d WHERE ÄRGER = 'groß'",
    `SELECT n FROM d WHERE "äRGER" = 'groß'`,
    "SELECT n FROM d WHERE d.ärger = 'groß'",
    "SELECT x.n FROM d AS x WHERE x.ärger = 'groß'",
    'SELECT n FROM d WHERE σημα = 5',
    "SELECT n FROM d WHERE имя = 'ana'",
    'SELECT n FROM d WHERE straße.größe.ö = 3',
    'SELECT n FROM d WHERE d.STRAßE.GRÖßE.Ö = 3',
    "SELECT n FROM d WHERE (_event->>'$.ärger') = 'groß'",
    "SELECT n FROM d WHERE _text.ärger = 'groß'",
    "SELECT n FROM d WHERE é.à = 'flat'",
    `SELECT n FROM d WHERE "é.à" = 'flat'`,
    "SELECT n FROM (SELECT * FROM d) WHERE ärger = 'groß'",
    "WITH c AS (SELECT n, ärger FROM d) SELECT n FROM c WHERE ärger = 'groß'",
    "WITH c AS (SELECT n, ärger AS ärger FROM d) SELECT n FROM c WHERE ärger = 'groß'",
    'SELECT d.n FROM d JOIN e ON d.ärger = e.ärger',
    'SELECT min(n) AS n FROM d GROUP BY ärger ORDER BY ärger LIMIT 1',
    "SELECT n FROM d WHERE strpos(ärger, 'gr') = 1 AND lower(ärger) IN ('groß')",
  ])('%s', async (query) => {
    expect((await search(org, query)).rows).toEqual([{ n: 1 }]);
  });
});

test('keeps a name that the query defines, and reports one that no event had', async () => {
  const { rows } = await search(org, 'SELECT n, upper(ärger) AS ärger FROM d WHERE n = 1 ORDER BY ärger');
  expect(rows).toEqual([{ n: 1, ärger: expect.stringMatching(/^GRO/) }]);
  const missing = await search(org, 'SELECT n FROM d WHERE örger = 1');
  expect(missing.warnings).toMatchObject([{ code: 'unknown_column' }]);
});
