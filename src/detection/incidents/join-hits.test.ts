import fc from 'fast-check';
import { expect, test } from 'vitest';
import { expectLinearTime } from '../../../test/support/linear-time.ts';
import { isSeverityAtLeast, severities } from '../analysis/candidate.ts';
import { everySeverity, joinHits, type JoinHit, type JoinRules } from './join-hits.ts';

const hourMs = 3_600_000;
const noRisk = { halfLifeMs: 168 * hourMs, threshold: Infinity };
const rules: JoinRules = { spanMs: everySeverity(48), othersMax: 3, severityMin: 'low', risk: noRisk };
const hit = (id: string, atHours: number, ...keys: string[]): JoinHit => ({
  id,
  severity: 'medium',
  seen: [{ from: atHours * hourMs, to: atHours * hourMs }],
  values: keys.map((key) => ({ key, others: 0 })),
  risk: null,
});
const idsOf = (hits: JoinHit[]): string[][] => joinHits(hits, rules).map(({ hitIds }) => hitIds);

test('joins hits that share a value within the span, in a chain, and says by which values', () => {
  const hits = [
    hit('a', 0, 'user'),
    hit('b', 40, 'user', 'host'),
    hit('c', 80, 'host', 'address'),
    hit('d', 200, 'host'),
    hit('e', 80),
  ];
  expect(joinHits(hits, rules)).toEqual([
    {
      hitIds: ['a', 'b', 'c'],
      reasons: [
        { key: 'host', hitIds: ['b', 'c'] },
        { key: 'user', hitIds: ['a', 'b'] },
      ],
    },
  ]);
});

test('does not join by a value that more others have', () => {
  const shared = (id: string, others: number): JoinHit => ({ ...hit(id, 1), values: [{ key: 'nat', others }] });
  expect(idsOf([shared('a', 3), shared('b', 3)])).toEqual([['a', 'b']]);
  expect(idsOf([shared('a', 4), shared('b', 4)])).toEqual([]);
  expect(idsOf([shared('a', 3), shared('b', 4)])).toEqual([]);
});

test('joins by where a hit was seen last as well, and by the mean of both spans', () => {
  const again = { ...hit('a', 0, 'user'), seen: [0, 300].map((at) => ({ from: at * hourMs, to: at * hourMs })) };
  expect(idsOf([again, hit('b', 340, 'user')])).toEqual([['a', 'b']]);
  expect(idsOf([again, hit('b', 150, 'user')])).toEqual([]);
  const wide = { ...rules, spanMs: { ...rules.spanMs, critical: 96 * hourMs } };
  const critical = { ...hit('a', 0, 'user'), severity: 'critical' as const };
  expect(joinHits([critical, hit('b', 72, 'user')], wide)).toHaveLength(1);
  expect(joinHits([critical, hit('b', 73, 'user')], wide)).toHaveLength(0);
});

test('weak hits alone are no incident, and join one that has a severe hit', () => {
  const weak = ['a', 'b'].map((id) => ({ ...hit(id, 1, 'user'), severity: 'low' as const }));
  const strict = { ...rules, severityMin: 'medium' as const };
  expect(joinHits(weak, strict)).toEqual([]);
  expect(joinHits([...weak, hit('c', 2, 'user')], strict)).toMatchObject([{ hitIds: ['a', 'b', 'c'] }]);
});

const risky = (id: string, atHours: number, points: number): JoinHit => ({
  ...hit(id, atHours),
  severity: 'low',
  risk: { key: 'ada', at: atHours * hourMs, points },
});
const byRisk = { ...rules, severityMin: 'medium' as const, risk: { halfLifeMs: 168 * hourMs, threshold: 100 } };

test('many weak hits of an entity are an incident when their points together reach the threshold', () => {
  const weak = [0, 60, 120].map((at, n) => risky(`w${n}`, at, 40));
  expect(joinHits(weak.slice(0, 2), byRisk)).toEqual([]);
  expect(joinHits(weak, byRisk)).toEqual([]);
  const again = risky('x', 121, 20);
  expect(joinHits([...weak, again], byRisk)).toMatchObject([
    { hitIds: ['w0', 'w1', 'w2', 'x'], reasons: [{ key: 'ada', risk: { at: 121 * hourMs } }] },
  ]);
  expect(joinHits([...weak, { ...again, risk: { ...again.risk!, key: 'bob' } }], byRisk)).toEqual([]);
});

test('points fade, and what is too old joins nothing', () => {
  expect(joinHits([risky('a', 0, 60), risky('b', 167, 60)], byRisk)).toEqual([]);
  expect(joinHits([risky('a', 0, 60), risky('b', 84, 60)], byRisk)).toHaveLength(1);
  expect(joinHits([risky('a', 0, 1000), risky('b', 337, 99)], byRisk)).toEqual([]);
});

test('a hit alone is no incident, whatever its risk', () => {
  expect(joinHits([risky('a', 0, 200)], byRisk)).toEqual([]);
});

test('the groups by risk are those of comparing every time with the hits before it, in any order', () => {
  const parts = fc.array(
    fc.record({ at: fc.integer({ min: 0, max: 2000 }), points: fc.integer({ min: 1, max: 60 }) }),
    {
      maxLength: 30,
    },
  );
  fc.assert(
    fc.property(parts, (list) => {
      const hits = list.map(({ at, points }, n) => risky(`r${n}`, at, points));
      const joined = joinHits(hits, byRisk).map(({ hitIds }) => hitIds);
      expect(joinHits(hits.toReversed(), byRisk).map(({ hitIds }) => hitIds)).toEqual(joined);
      const inGroup = new Set(joined.flat());
      for (const { id, risk } of hits) {
        const before = hits.filter((other) => other.risk!.at <= risk!.at && other.risk!.at >= risk!.at - 336 * hourMs);
        const score = before.reduce(
          (sum, other) => sum + other.risk!.points * 0.5 ** ((risk!.at - other.risk!.at) / (168 * hourMs)),
          0,
        );
        if (score > 100.001) expect(before.every((other) => inGroup.has(other.id))).toBe(true);
        if (score > 100.001) expect(joined.some((ids) => ids.includes(id) && ids.length >= before.length)).toBe(true);
      }
    }),
  );
});

const arbitraryHits = fc
  .array(
    fc.record({
      at: fc.integer({ min: 0, max: 300 }),
      lasts: fc.integer({ min: 0, max: 30 }),
      severity: fc.constantFrom(...severities),
      values: fc.uniqueArray(
        fc.record({ key: fc.constantFrom(...'abcdefgh'), others: fc.integer({ min: 0, max: 5 }) }),
        {
          selector: ({ key }) => key,
          maxLength: 3,
        },
      ),
    }),
    { maxLength: 25 },
  )
  .map((list) =>
    list.map(({ at, lasts, severity, values }, index): JoinHit => ({
      id: `hit-${String(index).padStart(2, '0')}`,
      severity,
      seen: [{ from: at * hourMs, to: (at + lasts) * hourMs }],
      values,
      risk: null,
    })),
  );

test('the result is the same in any order, and equals that of comparing every pair', () => {
  const mixed: JoinRules = {
    spanMs: { ...rules.spanMs, low: 12 * hourMs, critical: 96 * hourMs },
    othersMax: 3,
    severityMin: 'medium',
    risk: noRisk,
  };
  fc.assert(
    fc.property(
      arbitraryHits.chain((hits) => fc.tuple(fc.constant(hits), fc.shuffledSubarray(hits, { minLength: hits.length }))),
      ([hits, shuffled]) => {
        const joined = joinHits(hits, mixed);
        expect(joinHits(shuffled, mixed)).toEqual(joined);
        expect(joined.map(({ hitIds }) => hitIds)).toEqual(joinByPairs(hits, mixed));
      },
    ),
  );
});

/** Joins hits by comparing every pair of them until nothing changes. */
function joinByPairs(hits: readonly JoinHit[], { spanMs, othersMax, severityMin }: JoinRules): string[][] {
  const isJoined = (a: JoinHit, b: JoinHit): boolean =>
    a.values.some(
      (one) => one.others <= othersMax && b.values.some(({ key, others }) => key === one.key && others <= othersMax),
    ) &&
    a.seen.some((x) =>
      b.seen.some((y) => Math.max(x.from - y.to, y.from - x.to) <= (spanMs[a.severity] + spanMs[b.severity]) / 2),
    );
  let sets = hits.map((one) => [one]);
  for (let size = -1; size !== sets.length;) {
    size = sets.length;
    for (const set of sets) {
      const near = sets.filter((other) => other !== set && other.some((b) => set.some((a) => isJoined(a, b))));
      if (near.length === 0) continue;
      sets = [...sets.filter((other) => other !== set && !near.includes(other)), [...set, ...near.flat()]];
      break;
    }
  }
  return sets
    .filter((set) => set.length > 1 && set.some(({ severity }) => isSeverityAtLeast(severity, severityMin)))
    .map((set) => set.map(({ id }) => id).toSorted())
    .toSorted((a, b) => (a[0]! < b[0]! ? -1 : 1));
}

test('joins eight times as many hits in about eight times as long', async () => {
  const hitsOf = (length: number): JoinHit[] =>
    Array.from({ length }, (_, n) => hit(`hit-${n}`, n / 10, `user-${n % 2000}`, `host-${n % 1999}`));
  await expectLinearTime(hitsOf, (hits) => joinHits(hits, rules), 10_000);
});
