import { beforeAll, expect, test } from 'vitest';
import { startLogStore } from '../../../../test/support/detection/log-store.ts';

const { newOrg, send, search } = await startLogStore();
const org = await newOrg();

beforeAll(async () => {
  await send(org, 'd', [
    { n: 1, a: { b: 'x', c: 10, d: { e: true } }, items: [{ b: 'y' }], user: { name: 'ada' } },
    { n: 2, a: { b: 'y', c: 20, d: { e: false } }, items: [{ b: 'x' }, { b: 'z' }], user: { name: 'bo' } },
  ]);
});

test.each<[string, unknown[]]>([
  [`SELECT CASE a.b WHEN 'x' THEN 1 WHEN 'y' THEN 2 ELSE 3 END AS v FROM d ORDER BY n`, [{ v: 1 }, { v: 2 }]],
  [`SELECT n FROM d WHERE CASE d.a.d.e WHEN true THEN a.c ELSE 0 END = 10`, [{ n: 1 }]],
  [`SELECT a.b, a . c, "a"."d".e AS f FROM d WHERE n = 1;`, [{ b: 'x', c: 10, f: true }]],
  [`SELECT a /* the letter */ . b FROM d WHERE a.c BETWEEN a.c AND 15`, [{ b: 'x' }]],
  [`SELECT upper(a.b), a.c + 1 FROM d WHERE n = 2`, [{ 'upper(a.b)': 'Y', '(a.c + 1)': 21 }]],
  [`SELECT a.b, count(*) AS k FROM d GROUP BY ALL ORDER BY ALL`, [{ b: 'x', k: 1 }, { b: 'y', k: 1 }]],
  [`SELECT {'b': a.b, 'c': [a.c]} AS s FROM d WHERE n = 1`, [{ s: { b: 'x', c: [10] } }]],
  [`SELECT n FROM d AS t JOIN (VALUES ('y')) AS v(b) ON v.b = t.a.b`, [{ n: 2 }]],
  [`SELECT * EXCLUDE (_id, _time, _ingested, _event, items, user, a), a.b FROM d WHERE a.b = 'x'`, [{ n: 1, b: 'x' }]],
  [`SELECT n, list_transform([{'b': 7}], lambda a: a.b) AS l FROM d WHERE a.b = 'x'`, [{ n: 1, l: [7] }]],
  [`SELECT n FROM d WHERE len(list_filter(CAST(items AS JSON[]), lambda user: (user->>'b') = 'z')) = 1 AND user.name = 'bo'`, [{ n: 2 }]],
  [`SELECT a.b AS v, e.n FROM d JOIN range(2) AS r(i) ON true CROSS JOIN (SELECT n FROM d WHERE a.c = 20) AS e WHERE d.n = 1 AND i = 0`, [{ v: 'x', n: 2 }]],
])('%s', async (query, rows) => {
  expect((await search(org, query)).rows).toEqual(rows);
}); // prettier-ignore
