import { expect, test } from 'vitest';
import type { DetectionCategory } from '../analysis/registry.ts';
import type { Tuning } from '../analysis/tuning.schema.ts';
import { listTuningChanges } from './propose-tuning.ts';

/** Three candidates of which one may remain, so that a limit lies beyond the second. */
const numbers = [
  { count: 90, median: 10, minutes: 30 },
  { count: 50, median: 20, minutes: 90 },
  { count: 40, median: 30, minutes: 200 },
];

test.each<[DetectionCategory, Tuning, Tuning[]]>([
  ['custom', {}, [{ minimumCount: 51 }]],
  ['custom', { minimumCount: 51 }, []],
  ['privilege_escalation', {}, [{ minimumCount: 51 }]],
  ['first_occurrence', {}, [{ sensitivity: 'low' }, { peers: { minimum: 1 } }, { minimumCount: 51 }]],
  ['first_occurrence', { sensitivity: 'low', peers: { minimum: 1 } }, [{ minimumCount: 51 }]],
  [
    'baseline_anomaly',
    { sensitivity: 'high', peers: { by: 'team' } },
    [
      { sensitivity: 'medium' },
      { sensitivity: 'low' },
      { peers: { by: 'team', minimum: 1 } },
      { minimumIncrease: 31 },
      { minimumCount: 51 },
    ],
  ],
  ['baseline_anomaly', { sensitivity: 'low', peers: { minimum: 1 }, minimumIncrease: 40 }, [{ minimumCount: 51 }]],
  // An hour and a half is left out, half an hour may remain.
  ['sequence_pattern', {}, [{ sensitivity: 'low' }, { sequenceHours: 1.4 }, { minimumCount: 51 }]],
  ['sequence_pattern', { sensitivity: 'low', sequenceHours: 1 }, [{ minimumCount: 51 }]],
])('%s with %j: tries the smallest change first and none that already holds', (detectionCategory, tuning, changes) => {
  const noise = numbers.map((facts) => ({ facts }));
  expect(listTuningChanges({ detectionCategory, tuning }, noise, 1)).toEqual(changes);
});

test('proposes no limit where a fact is missing', () => {
  expect(listTuningChanges({ detectionCategory: 'sequence_pattern' }, [{ facts: {} }], 0)).toEqual([
    { sensitivity: 'low' },
  ]);
});
