import { runAtOnce } from '../../platform/lib/concurrency/slices.ts';
import { describe, expect, test } from 'vitest';
import { exactTimes, type QueryRow } from '../siem/connector.ts';
import { categories, detectionCategories } from './registry.ts';
import { prepareWindow } from './analyze-window.ts';
import { analyzeInTurn, candidatesOf, definitionOf, hour } from '../../../test/support/detection/analysis-examples.ts';

const repeat = <T>(count: number, item: T): T[] => Array.from({ length: count }, () => item);

describe('first_occurrence', () => {
  const definition = definitionOf('first_occurrence');
  const home = { user: 'alice', country: 'NL' };
  const abroad = { user: 'alice', country: 'BR', bytes: 7, at: '2024-01-01T07:00:00Z' };

  test('learns for seven windows before it returns candidates', () => {
    expect(analyzeInTurn([...repeat(6, [home]), [abroad]], definition)).toMatchObject({
      candidates: [],
      learning: true,
    });
    const { candidates, learning } = analyzeInTurn([...repeat(7, [home]), [home, abroad]], definition);
    expect(learning).toBe(false);
    expect(candidates).toHaveLength(1);
    expect(candidates[0]).toMatchObject({
      entity: 'alice',
      entityType: 'user',
      severity: 'high',
      facts: {
        newValues: ['country=BR'],
        firstSeen: '2024-01-01T00:00:00.000Z',
        entityWindows: 7,
        otherEntities: 0,
        count: 1,
        rows: 2,
        enoughPast: true,
      },
    });
    expect(candidates[0]!.rows.map(({ fields }) => fields['country'])).toEqual(['BR']);
  });

  test('ignores numbers, times and the author’s columns', () => {
    const again = { ...home, bytes: 99, at: '2024-01-01T07:00:00Z', severity: 'high', technique: 'T1078', count: '12' };
    expect(analyzeInTurn([...repeat(7, [home]), [again]], definition).candidates).toEqual([]);
  });

  test('reports values of other entities as new and counts those entities in the facts', () => {
    const { candidates } = analyzeInTurn(
      [...repeat(7, [home, { user: 'carol', country: 'NL' }]), [{ user: 'bob', country: 'NL' }]],
      definition,
    );
    expect(candidates[0]).toMatchObject({
      entity: 'bob',
      severity: 'low',
      facts: { firstSeen: null, otherEntities: 2, enoughPast: false },
    });
  });

  test('reports a value again after 30 days', () => {
    const days = (gap: number) => [[home], ...repeat<QueryRow[]>(gap * 24 - 1, []), [home]];
    expect(analyzeInTurn(days(30), definition).candidates).toEqual([]);
    expect(analyzeInTurn([...days(30).slice(0, -1), [], [home]], definition).candidates).toHaveLength(1);
  });

  test('builds the kind key from the new values only', () => {
    const later = analyzeInTurn([...repeat(9, [home]), [abroad, abroad]], definition).candidates[0]!;
    const sooner = analyzeInTurn([...repeat(7, [home]), [{ ...abroad, bytes: 1 }]], definition).candidates[0]!;
    expect(later.kindKey).toBe(sooner.kindKey);
    expect(
      analyzeInTurn([...repeat(7, [home]), [{ ...abroad, country: 'AR' }]], definition).candidates[0]!.kindKey,
    ).not.toBe(later.kindKey);
  });
});

describe('baseline_anomaly', () => {
  const definition = definitionOf('baseline_anomaly');
  const count = (n: unknown, user = 'alice') => ({ user, count: n });
  const spike = (history: readonly (readonly QueryRow[])[], now: readonly QueryRow[]) =>
    analyzeInTurn([...history, now], definition, true);

  test('matches the values computed by hand for 4 4 5 5 5 6 6 followed by 13', () => {
    // Median 5, deviation 1; the scale is √5 = 2.236, so 13 lies 3.58 above and 12 only 3.13.
    const history = [4, 4, 5, 5, 5, 6, 6].map((n) => [count(n)]);
    expect(spike(history, [count(12)]).candidates).toEqual([]);
    expect(spike(history, [count(13)]).candidates[0]).toMatchObject({
      severity: 'low',
      kindKey: 'baseline_anomaly:2024-01-01T07:00:00.000Z',
      facts: {
        count: 13,
        unit: 'count',
        z: 3.58,
        median: 5,
        scale: 2.24,
        samples: 7,
        comparedWith: 'all windows',
        enoughPast: true,
      },
    });
  });

  test('learns for seven windows and never reports low numbers', () => {
    expect(spike(repeat(6, [count(1)]), [count(900)])).toMatchObject({ candidates: [], learning: true });
    expect(spike(repeat(7, [count(500)]), [count(0)]).candidates).toEqual([]);
  });

  test('counts missing windows as zero only after the first appearance', () => {
    const late = [...repeat<QueryRow[]>(10, []), [count(20)], [], [], []];
    expect(spike(late, [count(20)]).candidates[0]?.facts).toMatchObject({ samples: 4, median: 0, enoughPast: false });
    expect(spike([...repeat<QueryRow[]>(10, []), [count(20)]], [count(20)]).candidates).toEqual([]);
  });

  test('compares with the same hour of days of the same kind, which it learns from the numbers', () => {
    // Busy from 08:00 to 18:00 on five days a week, idle otherwise; 15 days from a Monday.
    const weeks = (busyDays: readonly number[]) => {
      const busy = (index: number) =>
        index % 24 >= 8 && index % 24 < 18 && busyDays.includes(Math.floor(index / 24) % 7);
      return (hours: number) =>
        Array.from({ length: hours }, (_, index) => [count((busy(index) ? 1000 : 20) + (index % 5))]);
    };
    const history = weeks([0, 1, 2, 3, 4]);
    expect(spike(history(15 * 24 + 9), [count(1000)]).candidates).toEqual([]);
    expect(spike(history(15 * 24 + 9), [count(4000)]).candidates[0]).toMatchObject({
      severity: 'high',
      facts: { comparedWith: 'same hour', comparedDays: ['mon', 'tue', 'wed', 'thu', 'fri'], samples: 11 },
    });
    // As much as on other days is far too much on a day of the other kind.
    expect(spike(history(12 * 24 + 9), [count(1000)]).candidates[0]).toMatchObject({
      severity: 'high',
      facts: { comparedWith: 'same hour', comparedDays: ['sun', 'sat'] },
    });
    const sixDays = spike(weeks([0, 1, 2, 3, 4, 5])(19 * 24 + 9), [count(1000)]);
    expect(sixDays.candidates).toEqual([]);
    const all = spike(history(8), [count(1000)]).candidates[0];
    expect(all?.facts).toMatchObject({ comparedWith: 'all windows', median: 21.5 });
  });

  test('compares a new entity with at least ten others of the window', () => {
    const others = (n: number) => Array.from({ length: n }, (_, i) => count(3, `u${i}`));
    const history = repeat(7, others(12));
    expect(spike(history, [...others(10), count(90, 'new')]).candidates[0]).toMatchObject({
      entity: 'new',
      severity: 'medium',
      facts: { comparedWith: 'other entities', peers: 10, median: 3, enoughPast: false, firstSeen: null },
    });
    expect(spike(history, [...others(9), count(90, 'new')]).candidates).toEqual([]);
  });

  test.each<[string, QueryRow[], number, string]>([
    ['the sum of the rows', [count(3), count(4)], 7, 'count'],
    ['`value` rather than `n`', [{ user: 'alice', value: 30, n: 5 }], 30, 'value'],
    ['numeric text', [count('12')], 12, 'count'],
    ['a count without an alias', [{ user: 'alice', 'count_star()': 9 }], 9, 'count_star()'],
    [
      'the number of rows if the column is text',
      [
        { user: 'alice', value: 'HKLM' },
        { user: 'alice', value: '7' },
      ],
      2,
      'rows',
    ],
    ['the number of rows if there is no number', [{ user: 'alice' }, { user: 'alice' }, { user: 'alice' }], 3, 'rows'],
    ['the sum without NaN and null', [count(Number.NaN), count(5), count(null)], 5, 'count'],
  ])('uses %s', (_name, rows, number, unit) => {
    const { memory } = runAtOnce(prepareWindow(rows, hour(0), definition));
    expect(memory[0]).toEqual({ key: 'number', entity: 'alice', number, value: null });
    const spiked = rows.map((row) =>
      Object.fromEntries(Object.entries(row).map(([k, v]) => [k, typeof v === 'number' ? v * 1_000 : v])),
    );
    const [candidate] = spike(repeat(7, rows), [...spiked, ...repeat(20, rows[0]!)]).candidates;
    expect(candidate?.facts['unit'] ?? unit).toBe(unit);
  });

  test('raises severity with z', () => {
    const history = repeat(8, [count(0)]);
    expect([3, 4, 7, 15].map((n) => spike(history, [count(n)]).candidates[0]?.severity)).toEqual([
      undefined,
      'low',
      'medium',
      'high',
    ]);
  });
});

describe.each(['privilege_escalation', 'custom'] as const)('%s', (category) => {
  test('makes every entity a candidate and prefers the author’s severity and techniques', () => {
    const rows = [
      { user: 'a', _id: '1' },
      { user: 'b', _id: '2', severity: 'Critical', technique: 't1098.001, T1078' },
      { user: 'a', _id: '3' },
    ];
    const [b, a] = candidatesOf(rows, definitionOf(category));
    expect(b).toMatchObject({
      entity: 'b',
      severity: 'critical',
      facts: { techniques: ['T1078', 'T1098.001'], authorSeverity: 'critical' },
    });
    expect(a).toMatchObject({
      entity: 'a',
      severity: category === 'custom' ? 'medium' : 'high',
      facts: { rows: 2, candidateRows: 2 },
    });
    expect(a!.rows.map(({ rowId }) => rowId)).toEqual(['1', '3']);
  });

  test('builds the kind key from row IDs, or from the window for aggregates', () => {
    const keyOf = (rows: QueryRow[], aggregate = false) =>
      candidatesOf(rows, definitionOf(category), aggregate)[0]!.kindKey;
    expect(
      keyOf([
        { user: 'a', _id: '1', n: 1 },
        { user: 'a', _id: '2' },
      ]),
    ).toBe(
      keyOf([
        { user: 'a', _id: '2' },
        { user: 'a', _id: '1', n: 2 },
      ]),
    );
    expect(keyOf([{ user: 'a', _id: '1' }])).not.toBe(keyOf([{ user: 'a', _id: '3' }]));
    expect(keyOf([{ user: 'a', count: 2 }], true)).toBe(`${category}:2024-01-01T00:00:00.000Z`);
  });

  test('keeps rows with one ID and different contents, and removes duplicates', () => {
    const rows = [
      { user: 'a', _id: 'x', v: 1 },
      { user: 'a', _id: 'x', v: 2 },
      { user: 'a', _id: 'x', v: 2 },
    ];
    const ids = candidatesOf(rows, definitionOf(category))[0]!.rows.map(({ rowId }) => rowId);
    expect(ids).toHaveLength(2);
    expect(new Set(ids).size).toBe(2);
  });
});

test('shows the most severe of many rows', () => {
  const rows = Array.from({ length: 200 }, (_, n) => ({
    user: 'a',
    _id: `r${n}`,
    severity: n === 150 ? 'critical' : 'low',
  }));
  const [candidate] = candidatesOf(rows, definitionOf('custom'));
  expect(candidate!.rows).toHaveLength(50);
  expect(candidate!.rows.some(({ rowId }) => rowId === 'r150')).toBe(true);
  expect(candidate!.facts['rows']).toBe(200);
});

test.each([3, 60])('shows %i rows of one millisecond in the order of their microseconds', (count) => {
  const rows = Array.from({ length: count }, (_, n) => ({
    user: 'a',
    _id: `r${900 - n}`,
    _time: '2024-01-01T00:10:00.000Z',
    [exactTimes]: { _time: Date.UTC(2024, 0, 1, 0, 10) * 1000 + n },
  }));
  const [candidate] = candidatesOf(rows.toReversed(), definitionOf('custom'));
  expect(candidate!.rows.map(({ rowId }) => rowId)).toEqual(rows.slice(0, 50).map((row) => row._id));
});

test('only baseline_anomaly and first_occurrence use history', () => {
  expect(detectionCategories.filter((name) => categories[name].usesHistory)).toEqual([
    'baseline_anomaly',
    'first_occurrence',
  ]);
});
