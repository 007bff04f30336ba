import fc from 'fast-check';
import { expect, test } from 'vitest';
import { startLogStore } from '../../../../test/support/detection/log-store.ts';
import { compactSegments } from '../../log-compaction/compact-segments.ts';

const store = await startLogStore();
const limits = { filesMin: 2, filesMax: 50, bytesMax: 10_000_000, rowsMax: 1_000_000, hourRowsMin: 1 };
const fitting = fc.record({
  ok: fc.boolean(),
  bytes: fc.nat(1e9),
  user: fc.record({ id: fc.nat(99) }),
  text: fc.string(),
});
const misfit = fc.oneof(
  fc.string(),
  fc.boolean(),
  fc.double(),
  fc.constant(null),
  fc.constant({ x: 1 }),
  fc.constant(['x']),
);
const odd = fc.record({ ok: misfit, bytes: misfit, user: misfit, text: misfit });
const queries = [
  'SELECT n FROM d WHERE NOT ok AND n >= 0 ORDER BY n',
  'SELECT ok, count(*) AS c, sum(bytes) AS s FROM d WHERE n >= 0 GROUP BY ok ORDER BY ok',
  'SELECT n, bytes // 7 AS b, user.id + 1 AS i, upper(text) AS t FROM d WHERE n >= 0 AND bytes > 1000 ORDER BY n',
];

test('fewer than one event in a hundred with other values changes no result over the others', async () => {
  const stream = fc.tuple(
    fc.array(fitting, { minLength: 200, maxLength: 200 }),
    fc.array(odd, { minLength: 1, maxLength: 1 }),
    fc.nat(199),
  );
  await fc.assert(
    fc.asyncProperty(stream, fc.boolean(), async ([events, odds, at], isCompacted) => {
      const numbered = events.map((event, n) => ({ ...event, n }));
      const answers = [];
      for (const sent of [
        numbered,
        [...numbered.slice(0, at), ...odds.map((event) => ({ ...event, n: -1 })), ...numbered.slice(at)],
      ]) {
        const org = await store.newOrg();
        for (let from = 0; from < sent.length; from += 50) await store.send(org, 'd', sent.slice(from, from + 50));
        if (isCompacted) await compactSegments(store.deps, limits);
        answers.push(await Promise.all(queries.map(async (query) => (await store.search(org, query)).rows)));
      }
      expect(answers[1]).toEqual(answers[0]);
    }),
    { numRuns: 4 },
  );
});
