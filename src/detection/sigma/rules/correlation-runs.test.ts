import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { dataDir } from '../../../../test/support/data.ts';
import { callOk } from '../../../../test/support/detection/detection-factory.ts';
import { startApp, type TestOrg } from '../../../../test/support/harness.ts';
import { executeDueRuns } from '../../runs/workers/execute-due-runs.ts';

let now = new Date('2026-11-20T06:00:00Z');
const { deps, newOrg } = await startApp({ clock: () => now });
const hourMs = 3_600_000;

type LogEvent = { '@timestamp': string } & Record<string, unknown>;
/** When an event arrives, if that is not a second after it happened. */
type Delays = Record<string, string>;

/** Sends every event when it arrives, runs the slots, and returns the detections with the entities and the hour of their hits. */
async function replay(
  org: TestOrg,
  rules: string,
  events: readonly LogEvent[],
  delays: Delays = {},
): Promise<unknown[]> {
  now = new Date('2026-11-20T06:00:00Z');
  const [first] = events;
  await callOk(org, 'POST', '/api/logs/windows', [{ ...first, '@timestamp': now.toISOString(), EventID: 1 }]);
  const imported = await callOk(org, 'POST', '/api/detections/import?format=sigma', { rules, enable: true });
  expect(imported.results.map(({ outcome }: { outcome: string }) => outcome)).not.toContain('failed');
  const arrivalOf = ({ '@timestamp': time }: LogEvent): number => Date.parse(delays[time] ?? time) + 1000;
  const waiting = events.toSorted((a, b) => arrivalOf(a) - arrivalOf(b));
  for (let slot = 1; slot <= 6; slot++) {
    const end = Date.parse('2026-11-20T06:00:00Z') + slot * hourMs;
    while (waiting[0] && arrivalOf(waiting[0]) < end) {
      const event = waiting.shift()!;
      now = new Date(arrivalOf(event));
      await callOk(org, 'POST', '/api/logs/windows', [event]);
    }
    now = new Date(end);
    await executeDueRuns(deps, now, { concurrency: 2, skipWaiting: true });
  }
  const names = new Map(
    (await callOk(org, 'GET', '/api/detections')).detections.map((one: { id: string; name: string }) => [
      one.id,
      one.name,
    ]),
  );
  const raised: unknown[] = [];
  for (const [id, name] of names)
    for (const { windows } of (await callOk(org, 'GET', `/api/detections/${String(id)}/runs`)).runs)
      for (const { from, candidates } of windows)
        if (candidates > 0) raised.push([name, from.slice(11, 13), candidates]);
  const { hits } = await callOk(org, 'GET', '/api/hits');
  return [
    raised.toSorted(),
    hits.map((hit: Record<string, string>) => [names.get(hit['detectionId']!), hit['entity']]).toSorted(),
  ];
}

const recorded = dataDir();

test.skipIf(!recorded)(
  'raises recorded correlations that cross the hour, each in the slot that completes it',
  async () => {
    const rules = readFileSync(join(recorded!, 'cases/sigma-correlation.yml'), 'utf8');
    const events = readFileSync(join(recorded!, 'cases/sigma-correlation-events.ndjson'), 'utf8').trim().split('\n');
    const [raised, hits] = await replay(
      await newOrg(),
      rules,
      events.map((line) => JSON.parse(line) as LogEvent),
    );
    expect(hits).toEqual([
      ['Brute then success', 'flo'],
      ['Fail Then Success', 'flo'],
      ['Many Fails', '203.0.113.50'],
      ['Many Users Fail', '203.0.113.50'],
    ]);
    expect(raised).toEqual([
      ['Brute then success', '09', 1],
      ['Fail Then Success', '09', 1],
      ['Many Fails', '09', 1],
      ['Many Users Fail', '09', 1],
    ]);
  },
);

const threeFails = `title: Fail
name: fail
logsource: {product: windows, service: security}
detection: {s: {EventID: 4625}, condition: s}
---
title: Three fails
correlation: {type: event_count, rules: [fail], group-by: [IpAddress], timespan: 5m, condition: {gte: 3}}
`;
const fail = (time: string): LogEvent => ({
  '@timestamp': `2026-11-20T${time}Z`,
  EventID: 4625,
  Channel: 'Security',
  Computer: 'DC01',
  IpAddress: '203.0.113.9',
});

test.each([
  [
    'whose first event arrives in the next slot',
    ['08:57:00', '08:58:00', '08:59:00'],
    { '08:57:00': '09:02:00' },
    '09',
  ],
  ['whose first event arrives late', ['08:58:00', '08:59:30', '09:00:30'], { '08:58:00': '10:20:00' }, '09'],
  ['that goes on in the next slot', ['08:57:00', '08:58:00', '08:59:00', '09:00:30'], {}, '08'],
])('raises a correlation %s once', async (_case, times, delays, slot) => {
  const arrivals = Object.fromEntries(
    Object.entries(delays).map(([time, arrival]) => [fail(time)['@timestamp'], fail(arrival)['@timestamp']]),
  );
  const [raised, hits] = await replay(await newOrg(), threeFails, times.map(fail), arrivals);
  expect(raised).toEqual([['Three fails', slot, 1]]);
  expect(hits).toEqual([['Three fails', '203.0.113.9']]);
});
