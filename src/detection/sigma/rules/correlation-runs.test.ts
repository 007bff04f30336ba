import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { dataDir } from '../../../../test/support/data.ts';
import {
  correlatedRules,
  listRaised,
  periodOf,
  sampleStreams,
  timeOf,
  writeRules,
  type CorrelatedEvent,
  type CorrelatedRule,
  type CorrelatedStream,
} from '../../../../test/support/detection/sigma/correlated-slots.ts';
import { callOk } from '../../../../test/support/detection/detection-factory.ts';
import { selectIn } from '../../../../test/support/select-rows.ts';
import { startApp, type TestOrg } from '../../../../test/support/harness.ts';
import { matchWaiting } from '../../continuous/match-loop.ts';
import { executeDueRuns } from '../../runs/workers/run-loops.ts';

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
const fail = (time: string, address = '203.0.113.9'): LogEvent => ({
  '@timestamp': `2026-11-20T${time}Z`,
  EventID: 4625,
  Channel: 'Security',
  Computer: 'DC01',
  IpAddress: address,
});

test('raises a correlation once, whether an event arrives in the next slot or late, or it goes on in the next slot', async () => {
  const cases: [address: string, times: string[], slot: string][] = [
    ['203.0.113.1', ['08:57:00', '08:58:10', '08:59:00'], '09'],
    ['203.0.113.2', ['08:58:20', '08:59:30', '09:00:30'], '09'],
    ['203.0.113.3', ['08:57:30', '08:58:30', '08:59:40', '09:00:40'], '08'],
  ];
  const arrivals = { '08:57:00': '09:02:00', '08:58:20': '10:20:00' };
  const events = cases.flatMap(([address, times]) => times.map((time) => fail(time, address)));
  const delays = Object.entries(arrivals).map(([time, arrival]) => [
    fail(time)['@timestamp'],
    fail(arrival)['@timestamp'],
  ]);
  const org = await newOrg();
  const [raised] = await replay(org, threeFails, events.toSorted(byTime), Object.fromEntries(delays) as Delays);
  expect(raised).toEqual([
    ['Three fails', '08', 1],
    ['Three fails', '09', 1],
    ['Three fails', '09', 1],
  ]);
  const { hits } = await callOk(org, 'GET', '/api/hits');
  expect(
    hits.map((hit: Record<string, string>) => [hit['entity'], hit['windowFrom']!.slice(11, 13)]).toSorted(),
  ).toEqual(cases.map(([address, , slot]) => [address, slot]));
});

const byTime = (a: LogEvent, b: LogEvent): number => (a['@timestamp'] < b['@timestamp'] ? -1 : 1);

/** Matches what has arrived and executes the runs that follow. */
async function work(): Promise<void> {
  await matchWaiting(deps);
  await executeDueRuns(deps, now, { concurrency: 2, skipWaiting: true });
}

test('raises a correlation before its slot, and once if it crosses the hour', async () => {
  const org = await newOrg();
  now = new Date('2026-11-20T06:00:00Z');
  const send = (events: readonly LogEvent[]) => callOk(org, 'POST', '/api/logs/windows', events);
  await send([{ ...fail('06:00:00'), EventID: 1 }]);
  const { results } = await callOk(org, 'POST', '/api/detections/import?format=sigma', {
    rules: threeFails,
    enable: true,
  });
  const state = () => callOk(org, 'GET', `/api/detections/${results[0].id}/continuous`);
  const countHits = async () => (await callOk(org, 'GET', '/api/hits')).hits.length;
  await work();
  expect(await state()).toMatchObject({ state: 'matching', dataset: 'windows', expensive: false });
  for (const [time, hits] of [
    ['06:57:00', 0],
    ['06:59:00', 0],
    ['07:00:10', 1],
    ['07:01:00', 1],
  ] as const) {
    now = new Date(`2026-11-20T${time}Z`);
    if (time > '07') await executeDueRuns(deps, now, { skipWaiting: true });
    const batch = [fail(time), { ...fail(time), EventID: 1 }];
    await send(batch);
    await send(batch);
    await work();
    expect(await countHits()).toBe(hits);
  }
  for (const hour of ['08', '09']) {
    now = new Date(`2026-11-20T${hour}:00:00Z`);
    await work();
  }
  expect(await countHits()).toBe(1);
  expect(await state()).toMatchObject({ events: 1, missed: 0 });
});

/** Rules of which more events never fulfill less. */
const growing = correlatedRules.filter(({ text }) => /event_count|value_count|value_sum|temporal/.test(text));
/** Up to ten minutes, so that events arrive in another order than they happened. */
const delayOf = ({ minute, bytes, user }: CorrelatedEvent): number =>
  (minute * 7 + bytes * 3 + (user === 'u' ? 0 : 5)) % 10;

/** Returns the correlations of events that arrive in batches, with the period of each, whichever batch raises them. */
function listArrived({ events, bounds }: CorrelatedStream, rule: CorrelatedRule): string[] {
  const keys = bounds.flatMap((bound) =>
    listRaised(
      events.filter((event) => event.minute + delayOf(event) < bound),
      rule,
    ).map(({ user, minute }) => `${user} ${periodOf(minute, rule)}`),
  );
  return [...new Set(keys)].toSorted();
}

test.each(sampleStreams(2).map(({ events, bounds }) => ({ events, bounds: [...bounds, 200] })))(
  'raises the correlations of random events that arrive in any order and in repeated batches, and slots find no others (%#)',
  async (stream) => {
    const org = await newOrg();
    now = timeOf(-60);
    const send = (events: readonly object[]) => callOk(org, 'POST', '/api/logs/acme_auth', events);
    await send([{ '@timestamp': now, kind: 'other', user: 'u', host: 'h', bytes: 1 }]);
    for (const [index, { text, inner }] of growing.entries())
      await callOk(org, 'POST', '/api/detections/import?format=sigma', {
        rules: writeRules(text, inner, String(index)),
        enable: true,
        complete: false,
      });
    await work();
    const logs = stream.events.map((event, n) => {
      const { minute, ...rest } = event;
      return { arrival: minute + delayOf(event), log: { '@timestamp': timeOf(minute).toISOString(), n, ...rest } };
    });
    const steps = [...stream.bounds, 60, 120, 180, 240, 300].toSorted((a, b) => a - b);
    for (const [index, step] of steps.entries()) {
      const arrived = logs.filter(({ arrival }) => arrival < step && arrival >= (steps[index - 1] ?? 0));
      for (const { arrival, log } of arrived.toSorted((a, b) => a.arrival - b.arrival)) {
        now = timeOf(arrival);
        await send([log]);
      }
      now = timeOf(step);
      if (stream.bounds.includes(step)) await matchWaiting(deps);
      if (arrived[0]) await send([arrived[0].log]);
      await executeDueRuns(deps, now, { concurrency: 2, skipWaiting: true });
    }
    await work();
    const rows = await selectIn(deps.db, org.id)<{ name: string; entity: string; trigger: string; rows: string }>`
      select a.name, c.entity, c.trigger, c.rows from candidates c join agents a on a.organization_id = c.organization_id and a.id = c.detection_id`;
    const minuteOf = (text: string): number =>
      (Date.parse((JSON.parse(text) as { time: string }[])[0]!.time) - timeOf(0).getTime()) / 60_000;
    const found = growing.map((rule, index) =>
      rows
        .filter(({ name }) => name === String(index))
        .map(({ entity, rows: text }) => `${entity} ${periodOf(minuteOf(text), rule)}`)
        .toSorted(),
    );
    expect(found).toEqual(growing.map((rule) => listArrived(stream, rule)));
    const byTrigger = Map.groupBy(rows, ({ trigger }) => trigger);
    expect(byTrigger.get('continuous')!.length).toBeGreaterThan(byTrigger.get('schedule')?.length ?? 0);
    const { detections } = await callOk(org, 'GET', '/api/detections');
    for (const { id } of detections)
      expect(await callOk(org, 'GET', `/api/detections/${id}/continuous`)).toMatchObject({
        state: 'matching',
        missed: 0,
      });
  },
);
