import { runAtOnce } from '../../../platform/lib/concurrency/slices.ts';
import { describe, expect, test } from 'vitest';
import { exactTimes, type QueryRow } from '../../siem/connector.ts';
import { prepareWindow } from '../analyze-window.ts';
import {
  analyzeInTurn,
  candidatesOf,
  definitionOf,
  hour,
} from '../../../../test/support/detection/analysis-examples.ts';

const repeat = <T>(count: number, item: T): T[] => Array.from({ length: count }, () => item);

describe('sequence_pattern', () => {
  const definition = definitionOf('sequence_pattern', { query: 'SELECT 3 AS step' });
  const step = (n: number, hours: number, more: QueryRow = {}) => ({
    user: 'alice',
    step: n,
    _id: `s${n}-${hours}`,
    _time: new Date(Date.UTC(2024, 0, 1) + hours * 3_600_000).toISOString(),
    what: `step ${n}`,
    ...more,
  });

  test('combines steps of three windows into one candidate with the rows of all', () => {
    const { candidates } = analyzeInTurn([[step(1, 0.5)], [step(2, 1.5)], [step(3, 2.5)]], definition);
    expect(candidates).toHaveLength(1);
    expect(candidates[0]).toMatchObject({
      kindKey: 'sequence_pattern:s1-0.5/1',
      severity: 'high',
      facts: { steps: 3, sequences: 1, minutes: 120, keptSteps: 2, firstStepAt: '2024-01-01T00:30:00.000Z' },
    });
    expect(candidates[0]!.rows.map(({ fields }) => fields['what'])).toEqual(['step 1', 'step 2', 'step 3']);
  });

  test('reports a completed sequence once and consumes its rows', () => {
    const windows = [[step(1, 0.5), step(2, 0.6), step(3, 0.7)], [step(3, 1.5)], [step(2, 2.1), step(3, 2.2)]];
    expect(windows.map((_, index) => analyzeInTurn(windows.slice(0, index + 1), definition).candidates.length)).toEqual(
      [1, 0, 0],
    );
    const across = [[step(1, 0.5), step(2, 0.6)], [step(3, 1.5)], [step(3, 2.5)]];
    expect(across.map((_, index) => analyzeInTurn(across.slice(0, index + 1), definition).candidates.length)).toEqual([
      0, 1, 0,
    ]);
  });

  test('does not remember sequences completed within one window, regardless of later rows', () => {
    const flood = Array.from({ length: 150 }, (_, n) => step(2, 0.5 + n / 1_000));
    const first = [step(1, 0.1), step(1, 0.2), step(2, 0.3), step(3, 0.4), ...flood];
    expect(analyzeInTurn([first, [step(3, 1.5)]], definition).candidates.map(({ kindKey }) => kindKey)).toEqual([
      'sequence_pattern:s1-0.1/1',
    ]);
  });

  test('completes a sequence with a step that is logged late', () => {
    const { candidates } = analyzeInTurn([[step(1, 0.1)], [step(3, 1.9)], [step(2, 1.1)]], definition);
    expect(candidates).toHaveLength(1);
  });

  test('ignores steps more than a day apart', () => {
    expect(
      analyzeInTurn([[step(1, 0)], ...repeat<QueryRow[]>(24, []), [step(2, 25), step(3, 25.1)]], definition).candidates,
    ).toEqual([]);
  });

  test('orders steps and their rows by the microsecond, however they are written, across windows', () => {
    const ms = Date.UTC(2024, 0, 1, 0, 30);
    const exact = (micros: number): QueryRow => ({ [exactTimes]: { _time: ms * 1000 + micros } });
    const text = (micros: number): QueryRow => ({
      _time: `2024-01-01T00:30:00.000${String(micros).padStart(3, '0')}Z`,
    });
    const times = [exact, text, (micros: number): QueryRow => ({ _time: ms * 1000 + micros })];
    // The IDs are in the opposite order.
    const rows = (at: (micros: number) => QueryRow, micros: number[]): QueryRow[] =>
      micros.map((after, n) => step(n + 1, 0.5, { _id: `id-${9 - n}`, ...at(after) }));
    for (const at of times) {
      const { candidates } = analyzeInTurn([rows(at, [1, 2, 3]).toReversed()], definition);
      expect(candidates.map((candidate) => candidate.rows.map(({ rowId, time }) => [rowId, time]))).toEqual([
        ['id-9', 'id-8', 'id-7'].map((id) => [id, '2024-01-01T00:30:00.000Z']),
      ]);
      expect(analyzeInTurn([rows(at, [1, 3, 2])], definition).candidates).toEqual([]);
      const [first, second, third] = rows(at, [1, 2, 3]);
      expect(analyzeInTurn([[first!, third!], [second!]], definition).candidates).toHaveLength(1);
      const [early, late, last] = rows(at, [1, 3, 2]);
      expect(analyzeInTurn([[early!, last!], [late!]], definition).candidates).toEqual([]);
    }
  });

  test('does not mix entities', () => {
    expect(analyzeInTurn([[step(1, 0), step(2, 0.2), step(3, 0.3, { user: 'bob' })]], definition).candidates).toEqual(
      [],
    );
  });

  test('takes the length from the steps column, else from the largest step seen', () => {
    const unknown = definitionOf('sequence_pattern', { query: 'whatever' });
    expect(candidatesOf([step(1, 0), step(2, 0.1, { steps: 2 })], unknown)).toHaveLength(1);
    expect(candidatesOf([step(1, 0), step(2, 0.1, { steps: 3 })], unknown)).toHaveLength(0);
    expect(candidatesOf([step(1, 0)], unknown)).toHaveLength(0);
    expect(candidatesOf([step(1, 0), step(2, 0.1)], unknown)).toHaveLength(1);
  });

  test('skips invalid steps and remembers at most 100 of each', () => {
    const odd = [0, 11, 1.5, -1, Number.NaN, null, 'two', {}].map((n, index) => ({
      ...step(1, 0),
      step: n,
      _id: `odd${index}`,
    }));
    expect(runAtOnce(prepareWindow(odd, hour(0), definition)).memory).toEqual([]);
    const many = Array.from({ length: 300 }, (_, n) => step(1, n / 1_000));
    const memory = runAtOnce(prepareWindow(many, hour(0), definition)).memory.filter(({ number }) => number !== null);
    expect(memory).toHaveLength(100);
    expect(memory.at(-1)!.key).toBe('s1-0.299/1');
  });
});
