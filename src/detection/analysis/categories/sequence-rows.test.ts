import fc from 'fast-check';
import { expect, test } from 'vitest';
import { dayMs } from '../analysis-definition.ts';
import {
  compareSteps,
  findSequences,
  parseDeclaredLength,
  type SequenceShape,
  type SequenceStep,
} from './sequence-rows.ts';
import { expectLinearTime } from '../../../../test/support/linear-time.ts';

const hourMs = dayMs / 24;
const row = (step: number, hours: number, id = `${step}@${hours}`): SequenceStep => ({
  step,
  time: hours * hourMs,
  id,
});
const shapeOf = (length: number): SequenceShape => ({ length, spanMs: dayMs });
const idsOf = (rows: readonly SequenceStep[], length: number): string[][] =>
  findSequences(rows, shapeOf(length)).chains.map((chain) => chain.map(({ id }) => id));

test.each<[string, SequenceStep[], number, string[][]]>([
  ['finds steps in order', [row(1, 0), row(2, 1), row(3, 2)], 3, [['1@0', '2@1', '3@2']]],
  ['accepts rows in any order', [row(3, 2), row(1, 0), row(2, 1)], 3, [['1@0', '2@1', '3@2']]],
  ['orders simultaneous rows by step', [row(2, 0), row(1, 0)], 2, [['1@0', '2@0']]],
  ['ignores steps in the wrong order', [row(2, 0), row(1, 1)], 2, []],
  ['requires every step', [row(1, 0), row(3, 1)], 3, []],
  ['accepts exactly 24 hours', [row(1, 0), row(2, 24)], 2, [['1@0', '2@24']]],
  ['rejects more than 24 hours', [row(1, 0), row(2, 24.001)], 2, []],
  ['prefers the later start', [row(1, 0), row(1, 20), row(2, 30)], 2, [['1@20', '2@30']]],
  ['consumes rows', [row(1, 0), row(2, 1), row(2, 2)], 2, [['1@0', '2@1']]],
  [
    'finds interleaved sequences',
    [row(1, 0), row(1, 1), row(2, 2), row(2, 3)],
    2,
    [
      ['1@1', '2@2'],
      ['1@0', '2@3'],
    ],
  ],
  ['finds sequences of one step', [row(1, 0)], 1, [['1@0']]],
  ['ignores steps beyond the length', [row(1, 0), row(5, 1), row(2, 2)], 2, [['1@0', '2@2']]],
])('%s', (_name, rows, length, chains) => {
  expect(idsOf(rows, length)).toEqual(chains);
});

/** For each row of the last step, picks the chain of unused rows within a day that began last. */
function bruteForce(rows: readonly SequenceStep[], length: number): [first: string, last: string][] {
  const sorted = rows.toSorted(compareSteps);
  const used = new Set<SequenceStep>();
  const found: [string, string][] = [];
  for (const [end, last] of sorted.entries()) {
    if (last.step !== length) continue;
    const chains = chainsTo(sorted.slice(0, end + 1), used, [last]).filter(
      (chain) => last.time - chain[0]!.time <= dayMs,
    );
    const best = chains.toSorted((a, b) => compareSteps(b[0]!, a[0]!) || compareChains(a, b))[0];
    if (!best) continue;
    for (const one of best) used.add(one);
    found.push([best[0]!.id, last.id]);
  }
  return found;
}

function chainsTo(before: readonly SequenceStep[], used: Set<SequenceStep>, tail: SequenceStep[]): SequenceStep[][] {
  const head = tail[0]!;
  if (head.step === 1) return [tail];
  return before.flatMap((one, at) =>
    one.step === head.step - 1 && !used.has(one) && compareSteps(one, head) < 0
      ? chainsTo(before.slice(0, at + 1), used, [one, ...tail])
      : [],
  );
}

function compareChains(a: readonly SequenceStep[], b: readonly SequenceStep[]): number {
  for (const [index, one] of a.entries()) {
    const order = compareSteps(one, b[index]!);
    if (order !== 0) return order;
  }
  return 0;
}

const steps = (length: number, maxLength: number) =>
  fc
    .array(fc.record({ step: fc.integer({ min: 1, max: length }), quarter: fc.nat(200) }), { maxLength })
    .map((list) => list.map(({ step, quarter }, index) => row(step, quarter / 4, `${index}`)));

test.each([1, 2, 3, 4])('finds the same sequences of %i steps as brute force', (length) => {
  fc.assert(
    fc.property(steps(length, 14), (rows) => {
      const chains = findSequences(rows, shapeOf(length)).chains.map((chain): [string, string] => [
        chain[0]!.id,
        chain.at(-1)!.id,
      ]);
      expect(chains).toEqual(bruteForce(rows, length));
    }),
    { numRuns: 300 },
  );
});

test('returns ordered, complete chains within a day that share no row, and all other rows as rest', () => {
  fc.assert(
    fc.property(steps(5, 60), (rows) => {
      const { chains, rest } = findSequences(rows, shapeOf(5));
      for (const chain of chains) {
        expect(chain.map(({ step }) => step)).toEqual([1, 2, 3, 4, 5]);
        expect(chain).toEqual(chain.toSorted(compareSteps));
        expect(chain[4]!.time - chain[0]!.time).toBeLessThanOrEqual(dayMs);
      }
      expect([...chains.flat(), ...rest].toSorted(compareSteps)).toEqual(rows.toSorted(compareSteps));
    }),
  );
});

test('finds the same recent chains without older rows', () => {
  fc.assert(
    fc.property(steps(3, 40), fc.nat(50), (rows, horizon) => {
      const after = (chains: SequenceStep[][]) => chains.filter((chain) => chain[0]!.time >= horizon * hourMs);
      const recent = rows.filter(({ time }) => time >= horizon * hourMs);
      expect(findSequences(recent, shapeOf(3)).chains).toEqual(after(findSequences(rows, shapeOf(3)).chains));
    }),
  );
});

test('processes the rows of one entity in linear time', async () => {
  const rowsOf = (length: number): SequenceStep[] =>
    Array.from({ length }, (_, n) => row((n * 7919) % 3 === 0 ? 2 : (n * 7919) % 5 === 0 ? 3 : 1, n / 10_000, `${n}`));
  await expectLinearTime(rowsOf, (rows) => findSequences(rows, shapeOf(3)), 100_000);
  expect(findSequences(rowsOf(100_000), shapeOf(3)).chains.length).toBeGreaterThan(1_000);
});

test.each([
  ['SELECT user, 1 AS step FROM a UNION ALL SELECT user, 3 as step FROM b', 3],
  ['SELECT CASE WHEN n > 20 THEN 1 WHEN x THEN 2 ELSE 4 END AS step FROM a', 4],
  [
    'SELECT CASE WHEN a THEN CASE WHEN b THEN 1 ELSE 2 END ELSE 3 END AS "step", CASE WHEN c THEN 9 END AS other FROM a',
    3,
  ],
  ['SELECT 2::INT AS step FROM a -- 9 AS step', 2],
  ["SELECT '7 AS step' AS note, 2 AS step FROM a", 2],
  ['index=x | eval step=case(match(a, "b"), 1, c>5, 2, true(), 3) | table step', 3],
  ['T | extend step = 4', 4],
  ['SELECT step FROM a WHERE x = 5', undefined],
  ['SELECT 4 AS steps, 12 AS step FROM a', undefined],
])('%s declares %s', (query, length) => {
  expect(parseDeclaredLength(query)).toBe(length);
});
