import { expect, test } from 'vitest';
import { generateTraffic } from '../support/detection/invented-traffic.ts';
import { replayTraffic } from '../support/detection/invented-traffic-replay.ts';

const hourMs = 3_600_000;

// Small companies that the analysis was not written with: other weekends, shifts, sizes, jobs, laptops and outages.
test.each([23, 24])('finds the attacks on company %i with few false alarms', (seed) => {
  const traffic = generateTraffic(seed, 14);
  const { found, falseAlarms } = replayTraffic(traffic);
  const late = found.filter(({ attack, alarms }) => {
    const withinHours = attack.kind === 'drip' || attack.kind === 'slow' ? 72 : 24;
    return alarms[0] === undefined || alarms[0].to - attack.from > withinHours * hourMs;
  });
  expect(late.map(({ attack }) => attack)).toEqual([]);
  // Four weeks of two detections.
  expect(falseAlarms.length).toBeLessThanOrEqual(8);
});
