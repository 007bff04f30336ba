import { runAtOnce } from '../../platform/lib/concurrency/slices.ts';
import { expect, test } from 'vitest';
import { definitionOf, hour } from '../../../test/support/detection/analysis-examples.ts';
import { analyzeWindow, prepareWindow } from './analyze-window.ts';
import { createEmptyRecall } from './memory/memory.ts';
import { WorkingHours } from './tuning/working-hours.schema.ts';
import { compileWorkingHours } from './working-hours.ts';

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
