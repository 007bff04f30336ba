import fc from 'fast-check';
import { expect, test } from 'vitest';
import { dayMs } from '../analysis-definition.ts';
import { compareSteps, completeSequences, type Step } from './sequences.ts';
import { declaredSteps } from './sequence-length.ts';

const hourMs = dayMs / 24;
const row = (step: number, hours: number, id = `${step}@${hours}`): Step => ({ step, time: hours * hourMs, id });
const idsOf = (rows: readonly Step[], length: number): string[][] =>
  completeSequences(rows, length).chains.map((chain) => chain.map(({ id }) => id));

test.each<[string, Step[], number, string[][]]>([
  ['in order', [row(1, 0), row(2, 1), row(3, 2)], 3, [['1@0', '2@1', '3@2']]],
  ['handed over in any order', [row(3, 2), row(1, 0), row(2, 1)], 3, [['1@0', '2@1', '3@2']]],
  ['all at once', [row(2, 0), row(1, 0)], 2, [['1@0', '2@0']]],
  ['wrong order', [row(2, 0), row(1, 1)], 2, []],
  ['a step missing', [row(1, 0), row(3, 1)], 3, []],
  ['exactly a day', [row(1, 0), row(2, 24)], 2, [['1@0', '2@24']]],
  ['over a day', [row(1, 0), row(2, 24.001)], 2, []],
  ['the later start', [row(1, 0), row(1, 20), row(2, 30)], 2, [['1@20', '2@30']]],
  ['consumed rows are gone', [row(1, 0), row(2, 1), row(2, 2)], 2, [['1@0', '2@1']]],
  [
    'two at once',
    [row(1, 0), row(1, 1), row(2, 2), row(2, 3)],
    2,
    [
      ['1@1', '2@2'],
      ['1@0', '2@3'],
    ],
  ],
  ['one step alone', [row(1, 0)], 1, [['1@0']]],
  ['steps beyond the length do not matter', [row(1, 0), row(5, 1), row(2, 2)], 2, [['1@0', '2@2']]],
])('%s', (_name, rows, length, chains) => {
  expect(idsOf(rows, length)).toEqual(chains);
});

/** Tries every way: at each row of the last step, of all chains of unused rows within a day the one that began last. */
function bruteForce(rows: readonly Step[], length: number): [first: string, last: string][] {
  const sorted = rows.toSorted(compareSteps);
  const used = new Set<Step>();
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

function chainsTo(before: readonly Step[], used: Set<Step>, tail: Step[]): Step[][] {
  const head = tail[0]!;
  if (head.step === 1) return [tail];
  return before.flatMap((one, at) =>
    one.step === head.step - 1 && !used.has(one) && compareSteps(one, head) < 0
      ? chainsTo(before.slice(0, at + 1), used, [one, ...tail])
      : [],
  );
}

function compareChains(a: readonly Step[], b: readonly Step[]): number {
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

test.each([1, 2, 3, 4])('of %i steps: what brute force finds', (length) => {
  fc.assert(
    fc.property(steps(length, 14), (rows) => {
      const chains = completeSequences(rows, length).chains.map((chain): [string, string] => [
        chain[0]!.id,
        chain.at(-1)!.id,
      ]);
      expect(chains).toEqual(bruteForce(rows, length));
    }),
    { numRuns: 300 },
  );
});

test('a chain is ordered, complete, within a day, and shares no row; nothing is lost', () => {
  fc.assert(
    fc.property(steps(5, 60), (rows) => {
      const { chains, rest } = completeSequences(rows, 5);
      for (const chain of chains) {
        expect(chain.map(({ step }) => step)).toEqual([1, 2, 3, 4, 5]);
        expect(chain).toEqual(chain.toSorted(compareSteps));
        expect(chain[4]!.time - chain[0]!.time).toBeLessThanOrEqual(dayMs);
      }
      expect([...chains.flat(), ...rest].toSorted(compareSteps)).toEqual(rows.toSorted(compareSteps));
    }),
  );
});

test('chains that begin within a time are found alike without the rows before it', () => {
  fc.assert(
    fc.property(steps(3, 40), fc.nat(50), (rows, horizon) => {
      const after = (chains: Step[][]) => chains.filter((chain) => chain[0]!.time >= horizon * hourMs);
      const recent = rows.filter(({ time }) => time >= horizon * hourMs);
      expect(completeSequences(recent, 3).chains).toEqual(after(completeSequences(rows, 3).chains));
    }),
  );
});

test('100,000 rows of one entity are no burden', () => {
  const rows = Array.from({ length: 100_000 }, (_, n) =>
    row((n * 7919) % 3 === 0 ? 2 : (n * 7919) % 5 === 0 ? 3 : 1, n / 10_000, `${n}`),
  );
  const start = performance.now();
  expect(completeSequences(rows, 3).chains.length).toBeGreaterThan(1_000);
  expect(performance.now() - start).toBeLessThan(3_000);
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
  expect(declaredSteps(query)).toBe(length);
});
