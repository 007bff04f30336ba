import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runAtOnce } from '../../platform/lib/concurrency/slices.ts';
import type { QueryRow } from '../siem/connector.ts';
import { analyzeWindow, prepareWindow, findWindowsToRevisit } from './analyze-window.ts';
import { detectionCategories, type DetectionCategory } from './registry.ts';
import { findSequences } from './categories/sequence-rows.ts';
import { definitionOf, hour, hourMs } from '../../../test/support/detection/analysis-examples.ts';
import { recallFromWindows, type WindowMemory } from './memory/recall.ts';

const queryOf: Partial<Record<DetectionCategory, string>> = { sequence_pattern: 'SELECT 2 AS step' };
const definitions = detectionCategories.map((category) =>
  definitionOf(category, { query: queryOf[category] ?? 'select 1' }),
);

/** Generates events from small value sets, so that values repeat and sequences complete. Some are logged hours late. */
const eventsOf = (index: number) =>
  fc
    .array(
      fc.record({
        user: fc.constantFrom('a', 'b'),
        what: fc.constantFrom('x', 'y', 'z'),
        step: fc.constantFrom(1, 2),
        count: fc.constantFrom(0, 1, 2, 9, 40),
        late: fc.constantFrom(0, 0, 0, 0.2, 3),
      }),
      { maxLength: 4 },
    )
    .map((events) =>
      events.map(({ late, ...event }, n): QueryRow => ({
        ...event,
        _id: `${index}-${n}`,
        _time: new Date(hour(index).from.getTime() + (0.1 * n - late) * hourMs).toISOString(),
      })),
    );

// Windows are up to nine weeks apart, so that some are in each other's lookback and some are not.
const history = fc
  .uniqueArray(fc.oneof(fc.nat(60), fc.nat(1_500)), { minLength: 1, maxLength: 16 })
  .chain((hours) =>
    fc.tuple(...hours.toSorted((a, b) => a - b).map((index) => eventsOf(index).map((rows) => ({ index, rows })))),
  );

type World = { memory: WindowMemory[]; keys: Map<number, string[]> };

/** Examines one window, then re-examines the later windows that depend on it and replaces their results. */
function examine(
  world: World,
  rowsBy: Map<number, QueryRow[]>,
  index: number,
  definition: (typeof definitions)[number],
): void {
  const current = runAtOnce(prepareWindow(rowsBy.get(index)!, hour(index), definition));
  world.memory.push({ ...hour(index), entries: current.memory });
  const late = findWindowsToRevisit(hour(index), world.memory, definition).map(
    ({ from }) => (from.getTime() - hour(0).from.getTime()) / hourMs,
  );
  for (const each of [index, ...late]) {
    const prepared = runAtOnce(prepareWindow(rowsBy.get(each)!, hour(each), definition));
    const { candidates } = runAtOnce(
      analyzeWindow(prepared, runAtOnce(recallFromWindows(world.memory, hour(each), prepared.query))),
    );
    world.keys.set(
      each,
      candidates.map(({ entity, kindKey, severity }) => `${entity} ${kindKey} ${severity}`).toSorted(),
    );
  }
}

describe.each(definitions)('$category', (definition) => {
  test('any execution order results in the same memory and the same candidates', () => {
    fc.assert(
      fc.property(history, fc.infiniteStream(fc.nat()), (windows, noise) => {
        const rowsBy = new Map(windows.map(({ index, rows }) => [index, rows]));
        const run = (order: number[]): World => {
          const world: World = { memory: [], keys: new Map() };
          for (const index of order) examine(world, rowsBy, index, definition);
          return {
            memory: world.memory.toSorted((a, b) => a.from.getTime() - b.from.getTime()),
            keys: new Map([...world.keys].toSorted(([a], [b]) => a - b)),
          };
        };
        const inTurn = windows.map(({ index }) => index);
        const shuffled = inTurn.map((index) => ({ index, at: noise.next().value! })).toSorted((a, b) => a.at - b.at);
        expect(run(shuffled.map(({ index }) => index))).toEqual(run(inTurn));
      }),
      { numRuns: 150 },
    );
  });

  test('neither memory nor candidates depend on the order of the rows', () => {
    fc.assert(
      fc.property(eventsOf(9), eventsOf(8), fc.infiniteStream(fc.nat()), (rows, before, noise) => {
        const shuffled = rows
          .map((row) => ({ row, at: noise.next().value! }))
          .toSorted((a, b) => a.at - b.at)
          .map(({ row }) => row);
        const memory = Array.from({ length: 9 }, (_, n) => ({
          ...hour(n),
          entries: runAtOnce(prepareWindow(before, hour(8), definition)).memory,
        }));
        const result = (input: QueryRow[]) => {
          const prepared = runAtOnce(prepareWindow(input, hour(9), definition));
          const byKey = prepared.memory.toSorted((a, b) => (a.key + a.entity < b.key + b.entity ? -1 : 1));
          return {
            byKey,
            ...runAtOnce(analyzeWindow(prepared, runAtOnce(recallFromWindows(memory, hour(9), prepared.query)))),
          };
        };
        expect(result(shuffled)).toEqual(result(rows));
      }),
    );
  });
});

test('finds the same sequences window by window as in all rows together if rows arrive in order', () => {
  const definition = definitionOf('sequence_pattern', { query: 'SELECT 3 AS step' });
  const event = fc.record({ step: fc.integer({ min: 1, max: 3 }), minute: fc.nat(80 * 60 - 1) });
  fc.assert(
    fc.property(fc.array(event, { maxLength: 60 }), (events) => {
      const steps = events.map(({ step, minute }, n) => ({
        step,
        time: hour(0).from.getTime() + minute * 60_000,
        id: `e${String(n).padStart(2, '0')}/${step}`,
      }));
      const expected = findSequences(steps, { length: 3, spanMs: 24 * 3_600_000 }).chains.map((chain) => chain[0]!.id);
      const memory: WindowMemory[] = [];
      let found = 0;
      const firsts: string[] = [];
      for (let index = 0; index < 80; index++) {
        const window = hour(index);
        const own = steps.filter(({ time }) => time >= window.from.getTime() && time < window.to.getTime());
        const rows = own.map(({ step, time, id }) => ({
          user: 'a',
          step,
          _id: id.split('/')[0],
          _time: new Date(time).toISOString(),
        }));
        const prepared = runAtOnce(prepareWindow(rows, window, definition));
        for (const { facts, kindKey } of runAtOnce(
          analyzeWindow(prepared, runAtOnce(recallFromWindows(memory, window, prepared.query))),
        ).candidates) {
          found += Number(facts['sequences']);
          firsts.push(kindKey.slice('sequence_pattern:'.length));
        }
        memory.push({ ...window, entries: prepared.memory });
      }
      expect(found).toBe(expected.length);
      expect(expected).toEqual(expect.arrayContaining(firsts));
    }),
    { numRuns: 100 },
  );
});

test('a late window revisits the windows with it in their lookback and the one whose learning it completes', () => {
  const done = [0, 1, 2, 3, 5, 6, 7, 8, 900].map((index) => hour(index));
  const revisit = (category: DetectionCategory, late = 4) =>
    findWindowsToRevisit(hour(late), done, definitionOf(category)).map(
      ({ from }) => (from.getTime() - hour(0).from.getTime()) / hourMs,
    );
  expect(revisit('custom')).toEqual([]);
  expect(revisit('sequence_pattern')).toEqual([5, 6, 7, 8]);
  expect(revisit('first_occurrence')).toEqual([5, 6, 7, 8]);
  expect(revisit('baseline_anomaly')).toEqual([5, 6, 7, 8, 900]);
  const far = [hour(0), hour(1), hour(2), hour(3), hour(4), hour(5), hour(5_000)];
  expect(findWindowsToRevisit(hour(6), far, definitionOf('first_occurrence'))).toEqual([{ ...hour(5_000) }]);
});
