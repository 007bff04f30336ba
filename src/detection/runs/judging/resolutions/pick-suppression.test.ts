import { expect, test } from 'vitest';
import { addSuppression, pickSuppression, type NewSuppression } from './resolve-candidates.ts';

const at = (hour: number): Date => new Date(Date.parse('2026-03-02T00:00:00Z') + hour * 3_600_000);
const suppression = (hour: number, positive = true): NewSuppression => ({
  key: 'k',
  positive,
  facts: {},
  severity: 'low',
  hitId: `hit of ${hour}`,
  sinceAt: at(hour),
  untilAt: at(hour + 6),
});

test.each<[string, NewSuppression[], number, number | undefined]>([
  ['its own window', [suppression(10)], 10, 10],
  ['the last hour of the suppression', [suppression(10)], 15, 10],
  ['after it', [suppression(10)], 16, undefined],
  ['the latest of several', [suppression(10), suppression(13)], 14, 13],
  ['the one of its own time, after a later one', [suppression(10), suppression(20)], 14, 10],
  ['a late candidate shortly before a hit', [suppression(20)], 15, 20],
  ['a late candidate long before a hit', [suppression(20)], 14, undefined],
  ['a late candidate between an ended suppression and a hit', [suppression(4), suppression(14)], 11, 14],
  ['a late candidate before a dismissed one', [suppression(20, false)], 18, undefined],
  ['a dismissed one of its own time', [suppression(10, false), suppression(14)], 12, 10],
])('%s', (_name, list, hour, expected) => {
  for (const added of [list, list.toReversed()]) {
    const known = new Map<string, readonly NewSuppression[]>();
    for (const one of added) addSuppression(known, one);
    expect(pickSuppression(at(hour), known.get('k')!)?.sinceAt).toEqual(
      expected === undefined ? undefined : at(expected),
    );
  }
});
