import { describe, expect, test } from 'vitest';
import { analyzeInTurn, definitionOf, hour } from '../../../test/support/detection/analysis-examples.ts';
import { analyzeWindow, prepareWindow, compileWorkingHours } from './analyze-window.ts';
import type { AnalysisDefinition } from './analysis-definition.ts';
import { detectionCategories } from './registry.ts';
import { recallFromWindows, type WindowMemory } from './memory/recall.ts';
import { findResultWarnings } from './result-warnings.ts';
import { runAtOnce, runInSlices, type Steps } from '../../platform/lib/concurrency/slices.ts';
import { createEmptyRecall } from './memory/memory.ts';
import { findRuleCell, withoutHiddenRule } from './severity-rules.ts';
import { WorkingHours } from './tuning.schema.ts';

const from = new Date('2030-01-01T10:00:00Z');
const window = { from, to: new Date(from.getTime() + 3_600_000), aggregate: false };
const definition: AnalysisDefinition = {
  category: 'custom',
  query: 'q',
  entityField: 'user',
  timeField: null,
  connectionId: null,
  cadence: '0 * * * *',
  slotMs: 3_600_000,
};

test('finds the same candidates in slices, between which other work runs', async () => {
  const rows = Array.from({ length: 5_000 }, (_, n) => ({
    _id: `e${n}`,
    _time: from.toISOString(),
    user: `user${n}`,
    text: 'x'.repeat(150),
  }));
  let turns = 0;
  const timer = setInterval(() => (turns += 1), 0);
  const prepared = await runInSlices(prepareWindow(rows, window, definition));
  const result = await runInSlices(analyzeWindow(prepared, createEmptyRecall()));
  clearInterval(timer);
  expect(turns).toBeGreaterThan(1);
  expect(result.candidates).toHaveLength(rows.length);
  expect(result).toEqual(runAtOnce(analyzeWindow(prepared, createEmptyRecall())));
});

const many = (count: number) => Array.from({ length: 9 }, () => [{ user: 'ada', count: 10 }]).concat([[{ user: 'ada', count }]]); // prettier-ignore
const steps = (n: number) => [{ _id: `${n}`, _time: `2030-01-07T00:0${n}:00Z`, user: 'ada', step: n, steps: 2 }];
const seen = (action: string) => [{ _id: action, user: 'ada', action }];
test.each([
  ['custom', [seen('read')], { minimumCount: 2 }, {}],
  ['first_occurrence', [...Array.from({ length: 9 }, () => seen('read')), seen('new')], { minimumCount: 2 }, {}],
  ['baseline_anomaly', many(1000), { minimumCount: 2000 }, { isAggregate: true }],
  ['baseline_anomaly', many(1000), { minimumIncrease: 2000 }, { isAggregate: true }],
  ['sequence_pattern', [[...steps(1), ...steps(2)]], { minimumCount: 2 }, {}],
] as const)(
  '%s: counts the candidates that a minimum leaves out',
  (category, windows, tuning, { isAggregate = false }: { isAggregate?: boolean }) => {
    const found = analyzeInTurn(windows, definitionOf(category), isAggregate);
    expect(found).toMatchObject({ candidates: [{ entity: 'ada' }], dropped: { belowMinimum: 0 } });
    const tuned = analyzeInTurn(windows, definitionOf(category, { tuning }), isAggregate);
    expect(tuned).toMatchObject({ candidates: [], dropped: { belowMinimum: 1, workingHours: 0 } });
  },
);

describe.each([1, 60])('with %i entities', (entities) => {
  test.each(detectionCategories)('%s: no step looks at more than one row', (category) => {
    const touched = new Set<number>();
    const makeRows = (hourIndex: number) =>
      Array.from({ length: 60 }, (_, n) => ({
        user: `user${n % entities}`,
        step: 1 + (n % 2),
        steps: 2,
        _time: new Date(hour(hourIndex).from.getTime() + 1000 * n).toISOString(),
        get action() {
          touched.add(n);
          return `action ${hourIndex === 9 ? n : 0}`;
        },
      }));
    let mostTouched = 0;
    const run = <Result>(steps: Steps<Result>): Result => {
      for (let step = steps.next(); ; step = steps.next()) {
        mostTouched = Math.max(mostTouched, touched.size);
        touched.clear();
        if (step.done) return step.value;
      }
    };
    const tuned = definitionOf(category, { entityField: 'user', timeField: 'at', tuning: { peers: { by: 'action' } } });
    const memory: WindowMemory[] = [];
    for (let index = 0; index < 10; index++) {
      const prepared = run(prepareWindow(makeRows(index), hour(index), tuned));
      run(findResultWarnings({ ...prepared, aggregate: false }, tuned));
      run(analyzeWindow(prepared, run(recallFromWindows(memory, hour(index), prepared.query))));
      memory.push({ ...hour(index), entries: prepared.memory });
    }
    expect(mostTouched).toBe(1);
  });
});

const oslo = { timeZone: 'Europe/Oslo', from: '08:00', to: '17:00' };

test.each([
  ['2030-03-08T07:00:00Z', oslo, true],
  ['2030-03-08T06:59:59Z', oslo, false],
  ['2030-03-08T15:59:59Z', oslo, true],
  ['2030-03-08T16:00:00Z', oslo, false],
  // Saturday.
  ['2030-03-09T10:00:00Z', oslo, false],
  ['2030-03-09T10:00:00Z', { ...oslo, days: ['sat'] as const }, true],
  // Daylight saving time begins on 31 March 2030.
  ['2030-04-01T06:00:00Z', oslo, true],
  ['2030-04-01T15:30:00Z', oslo, false],
  // A night shift that begins on Friday ends on Saturday morning.
  ['2030-03-09T04:59:00Z', { ...oslo, from: '22:00', to: '06:00' }, true],
  ['2030-03-09T05:00:00Z', { ...oslo, from: '22:00', to: '06:00' }, false],
  ['2030-03-10T04:00:00Z', { ...oslo, from: '22:00', to: '06:00' }, false],
  ['2030-03-08T12:00:00Z', { ...oslo, from: '00:00', to: '00:00' }, true],
])('%s is within %j: %s', (at, hours, expected) => {
  const { days, ...rest } = hours as typeof hours & { days?: readonly ['sat'] };
  expect(compileWorkingHours({ ...rest, ...(days ? { days: [...days] } : {}) })(new Date(at))).toBe(expected);
});

const utc = { timeZone: 'UTC', from: '08:00', to: '17:00' };
// Hour 10 of the example windows is 10:00 on a Monday.
test.each([
  ['raise', 3, {}, 'high', true],
  ['raise', 10, {}, 'medium', false],
  ['raise', 3, { severity: 'low' }, 'low', true],
  ['outside_only', 3, {}, 'medium', true],
  ['outside_only', 10, {}, undefined, undefined],
  ['inside_only', 3, {}, undefined, undefined],
  ['inside_only', 10, {}, 'medium', false],
] as const)('%s at hour %i with %j is %s', (effect, index, more, severity, outsideWorkingHours) => {
  const definition = definitionOf('custom', { tuning: { workingHours: { ...utc, effect } } });
  const prepared = runAtOnce(prepareWindow([{ _id: '1', user: 'ada', ...more }], hour(index), definition));
  const { candidates, dropped } = runAtOnce(analyzeWindow(prepared, createEmptyRecall()));
  expect(dropped).toEqual({ belowMinimum: 0, workingHours: 1 - candidates.length });
  expect(candidates.map((candidate) => [candidate.severity, candidate.facts['outsideWorkingHours']])).toEqual(
    severity === undefined ? [] : [[severity, outsideWorkingHours]],
  );
});

test.each([
  { ...utc, timeZone: 'Mars/Base' },
  { ...utc, from: '8:00' },
  { ...utc, to: '24:00' },
  { ...utc, days: [] },
])('rejects %j', (hours) => {
  expect(WorkingHours.safeParse(hours).success).toBe(false);
});

const isListed = new Map([['admins', (text: string) => text === 'ada']]);
const admins = { field: 'USER', list: 'admins', severity: 'raise' } as const;
const lab = { field: 'host', value: 'lab-*', severity: 'low' } as const;
test.each([
  ['raises by a list', [admins, lab], ['lab-1'], 'high', 'USER in lists.admins: one level up'],
  ['sets by a pattern if all rows match', [lab, admins], ['lab-1', 'lab-2'], 'low', 'host = lab-*: low'],
  ['does not lower for one row of two', [lab], ['lab-1', 'web-1'], 'medium', undefined],
  [
    'raises for one row of two',
    [{ ...lab, severity: 'critical' }],
    ['web-1', 'lab-1'],
    'critical',
    'host = lab-*: critical',
  ],
  [
    'stops at a rule that changes nothing',
    [{ ...lab, severity: 'medium' }, admins],
    ['lab-1'],
    'medium',
    'host = lab-*: medium',
  ],
  ['ignores a list that does not exist', [{ ...admins, list: 'gone' }], ['lab-1'], 'medium', undefined],
  ['ignores a field that no row has', [{ ...lab, field: 'constructor' }], ['lab-1'], 'medium', undefined],
  ['ignores any text of such a field', [{ ...lab, field: 'owner', value: '*' }], ['lab-1'], 'medium', undefined],
] as const)('a severity rule %s', (_, rules, hosts, severity, severityRule) => {
  const definition = definitionOf('custom', { tuning: { severityRules: [...rules] } });
  const rows = hosts.map((host, n) => ({ _id: `${n}`, user: 'ada', host }));
  const { candidates } = runAtOnce(
    analyzeWindow(runAtOnce(prepareWindow(rows, hour(10), definition)), createEmptyRecall(), isListed),
  );
  const [candidate] = candidates;
  expect(candidate).toMatchObject({ severity });
  expect(candidate!.facts['severityRule']).toBe(severityRule);
  expect(candidate!.facts['severityBefore']).toBe(severityRule === undefined ? undefined : 'medium');
  const field = severityRule?.split(' ')[0];
  expect(findRuleCell(candidate!)).toEqual(
    field === undefined
      ? undefined
      : expect.objectContaining({
          field,
          rowId: candidate!.rows.find((row) => field === 'USER' || row.fields['host']!.startsWith('lab'))!.rowId,
        }),
  );
  const seen = withoutHiddenRule(candidate!, { datasets: [], fields: ['host'] });
  expect(seen.facts['severityRule']).toBe(field === 'host' ? undefined : severityRule);
});
