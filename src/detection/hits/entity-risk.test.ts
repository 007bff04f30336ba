import fc from 'fast-check';
import { expect, test } from 'vitest';
import '../../../test/support/property-seed.ts';
import { computeRisk, listDailyRisk } from './entity-risk.ts';
import { hitStatuses } from './hits.schema.ts';
import type { RiskHitRow } from './read-hits.store.ts';

const now = new Date('2026-03-20T00:00:00Z');
const halfLifeMs = 7 * 86_400_000;
const hit = (more: Partial<RiskHitRow>): RiskHitRow => ({
  id: 'a',
  headline: 'A hit',
  severity: 'high',
  confidence: 100,
  status: 'open',
  lastSeenAt: now,
  truePositives: 0,
  reviews: 0,
  ...more,
});
const score = (...hits: Partial<RiskHitRow>[]): number => computeRisk(hits.map(hit), { now, halfLifeMs }).score;

test.each<[string, Partial<RiskHitRow>, number]>([
  ['a new hit of high severity', {}, 50],
  ['one of critical severity', { severity: 'critical' }, 100],
  ['half the confidence', { confidence: 50 }, 25],
  ['one half-life ago', { lastSeenAt: new Date(now.getTime() - halfLifeMs) }, 25],
  ['two half-lives ago', { lastSeenAt: new Date(now.getTime() - 2 * halfLifeMs) }, 12.5],
  ['a detection that was wrong four times', { reviews: 4 }, 10],
  ['a detection that was right three of four times', { reviews: 4, truePositives: 3 }, 40],
  ['confirmed, whatever the detection is worth', { status: 'true_positive', confidence: 40, reviews: 4 }, 50],
  ['dismissed', { status: 'false_positive' }, 0],
  ['a time in the future', { lastSeenAt: new Date(now.getTime() + halfLifeMs) }, 50],
])('%s', (_, more, points) => {
  expect(score(more)).toBe(points);
});

test('adds hits up, and lists the causes by points', () => {
  const { score: sum, causes } = computeRisk(
    [hit({ id: 'b', severity: 'low' }), hit({}), hit({ id: 'c', status: 'benign' })],
    { now, halfLifeMs },
  );
  expect(sum).toBe(60);
  expect(causes.map(({ id, points }) => [id, points])).toEqual([
    ['a', 50],
    ['b', 10],
  ]);
});

test('shows the risk of each of the last days, which a hit raises and time lowers', () => {
  const day = 86_400_000;
  const hits = [hit({ lastSeenAt: new Date(now.getTime() - 7 * day) }), hit({ id: 'b' })];
  const history = listDailyRisk(hits, { now, halfLifeMs, days: 9 });
  expect(history.map(({ score }) => Math.round(score))).toEqual([0, 50, 45, 41, 37, 34, 31, 28, 75]);
  expect(history.at(-1)!.at).toEqual(now);
});

test('does not depend on the order of hits, and never grows without a new one', () => {
  const row = fc.record({
    id: fc.uuid(),
    headline: fc.constant('x'),
    severity: fc.constantFrom('none', 'low', 'medium', 'high', 'critical'),
    confidence: fc.integer({ min: 0, max: 100 }),
    status: fc.constantFrom(...hitStatuses),
    lastSeenAt: fc.date({ min: new Date('2026-01-01'), max: now, noInvalidDate: true }),
    truePositives: fc.constant(1),
    reviews: fc.integer({ min: 1, max: 9 }),
  }) as fc.Arbitrary<RiskHitRow>;
  fc.assert(
    fc.property(fc.uniqueArray(row, { selector: ({ id }) => id }), fc.nat(1_000_000_000), (hits, laterMs) => {
      const { score: first } = computeRisk(hits, { now, halfLifeMs });
      expect(computeRisk(hits.toReversed(), { now, halfLifeMs }).score).toBeCloseTo(first, 0);
      expect(computeRisk(hits, { now: new Date(now.getTime() + laterMs), halfLifeMs }).score).toBeLessThanOrEqual(
        first,
      );
    }),
  );
});
