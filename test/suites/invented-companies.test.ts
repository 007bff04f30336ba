import { expect, test } from 'vitest';
import { generateTraffic } from '../support/detection/invented-traffic.ts';
import { replayTraffic } from '../support/detection/invented-traffic-replay.ts';

const hourMs = 3_600_000;

// A small company that the analysis was not written with. `npm run quality` measures others.
test('finds the attacks on an invented company with few false alarms', () => {
  const traffic = generateTraffic(23, 14);
  const { found, falseAlarms } = replayTraffic(traffic);
  const late = found.filter(({ attack, alarms }) => {
    const withinHours = attack.kind === 'drip' || attack.kind === 'slow' ? 72 : 24;
    return alarms[0] === undefined || alarms[0].to - attack.from > withinHours * hourMs;
  });
  expect(late.map(({ attack }) => attack)).toEqual([]);
  // Four weeks of two detections.
  expect(falseAlarms.length).toBeLessThanOrEqual(8);
});
