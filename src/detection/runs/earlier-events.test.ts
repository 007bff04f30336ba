import { expect, test } from 'vitest';
import { startApp, type TestOrg } from '../../../test/support/harness.ts';
import {
  hourMs,
  lateDetection,
  lateQueries,
  listFoundHits,
  minuteMs,
  replayArrivals,
  usualArrivals,
  type Arrival,
  type LateCategory,
} from '../../../test/support/detection/late-arrivals.ts';
import { inOrg, queryRows } from '../../platform/db/db.ts';
import { executeDueRuns } from './workers/run-loops.ts';

const midnight = Date.parse('2026-03-02T00:00:00Z');
const at = (hour: number, minute = 0): Date => new Date(midnight + hour * hourMs + minute * minuteMs);
let now = at(0);
const { deps, newOrg } = await startApp({ clock: () => now });

/** The detections are created at this hour, two days after the first event. */
const created = 48;

/** A forwarder sends the events of two days in two hours, in order, and the detections are created after half an hour. */
const catchUp = (arrivals: Arrival[]): Arrival[] =>
  arrivals.map(({ event }) => {
    const share = (event.time.getTime() - midnight) / (created * hourMs);
    const arrival = at(created - 0.5).getTime() + Math.floor(share * 24) * 5 * minuteMs;
    return { event, lateMinutes: share < 1 ? (arrival - event.time.getTime()) / minuteMs : 0 };
  });

const burst = (hour: number, user: string, more: Partial<Arrival['event']> = {}, count = 90): Arrival[] =>
  Array.from({ length: count }, (_, n) => ({
    event: { _id: `burst-${hour}-${user}-${n}`, time: at(hour, n / 2), user, action: 'read', step: 0, ...more },
    lateMinutes: 0,
  }));

async function run(
  detections: (LateCategory | object)[],
  events: Arrival[],
  hours = 7,
): Promise<{ org: TestOrg; ids: string[] }> {
  const org = await newOrg();
  const arrivals = catchUp([...usualArrivals(midnight, created + hours), ...events]);
  const send = async (list: object[]): Promise<void> => {
    expect((await org.call('POST', '/api/logs/app', list)).status).toBe(200);
  };
  const replay = (from: number, count: number): Promise<void> =>
    replayArrivals(deps, arrivals, {
      midnight: at(from).getTime(),
      hours: count,
      setNow: (time) => void (now = time),
      send,
    });
  await replay(created - 1, 1);
  const ids: string[] = [];
  for (const detection of detections) {
    const body = typeof detection === 'string' ? lateDetection(detection as LateCategory) : detection;
    ids.push((await org.call('POST', '/api/detections', body)).body.id);
  }
  await replay(created, hours);
  return { org, ids };
}

/** Lists what was ever raised, whether it is still open or not. */
const listRaised = (org: TestOrg, id: string): Promise<{ entity: string }[]> =>
  inOrg(
    deps.db,
    org.id,
    (tx) => queryRows<{ entity: string }>(tx)`select distinct entity from hits where detection_id = ${id} order by 1`,
  );

test('an event dated back counts when it arrives, once the detection is older than a week', async () => {
  const org = await newOrg();
  now = at(0);
  const daily = { ...lateDetection('baseline_anomaly'), detectionCadence: 'daily' };
  const { id } = (await org.call('POST', '/api/detections', daily)).body;
  for (let day = 0; day < 9; day++) {
    now = at(24 * day + 12);
    const isLast = day === 8;
    const events = burst(24 * day + 11, 'user-07', {}, isLast ? 90 : 6).map(({ event }) => ({
      ...event,
      time: new Date(event.time.getTime() - (isLast ? 20 * 24 * hourMs : 0)),
    }));
    expect((await org.call('POST', '/api/logs/app', events)).status).toBe(200);
    now = at(24 * (day + 1));
    await executeDueRuns(deps, now, { concurrency: 1 });
  }
  expect(await listFoundHits(deps, org.id, id)).toEqual([{ entity: 'user-07', window: at(24 * 8).toISOString() }]);
});

test('a backlog of two days raises only what is unusual in its own slot, up to the look-back before the detections', async () => {
  const one = (hour: number, user: string, more: Partial<Arrival['event']>): Arrival[] => burst(hour, user, more, 1);
  const events = [
    ...burst(created - 40, 'user-01'),
    ...burst(created - 6, 'user-02'),
    ...burst(created + 4, 'user-03'),
    ...one(created - 5, 'user-04', { action: 'export' }),
    ...one(created + 5, 'user-04', { action: 'export' }),
    ...one(created - 8, 'user-05', { step: 1 }),
    ...one(created - 5, 'user-05', { step: 2 }),
    ...one(created - 3, 'user-06', { step: 1 }),
    ...one(created + 3, 'user-06', { step: 2 }),
  ];
  // Detections without memory that group events or have a minimum count.
  const counting = [
    { detectionQuery: `${lateQueries.baseline_anomaly} HAVING count(*) > 20` },
    { detectionQuery: `SELECT * FROM (${lateQueries.baseline_anomaly}) WHERE count > 20` },
    { detectionQuery: lateQueries.first_occurrence, tuning: { minimumCount: 20 } },
  ].map((more) => ({ ...lateDetection('custom'), ...more }));
  const { org, ids } = await run(['baseline_anomaly', 'first_occurrence', 'sequence_pattern', ...counting], events);
  const [baseline, occurrence, sequence, ...others] = ids;
  const found = (user: string, hour: number) => ({ entity: user, window: at(created + hour).toISOString() });
  const bursts = [found('user-02', -6), found('user-03', 4)];
  for (const [id, hits] of [
    [baseline, bursts],
    [occurrence, [found('user-04', -5)]],
    [sequence, [found('user-05', -5), found('user-06', 3)]],
    ...others.map((id) => [id, bursts] as const),
  ] as const) {
    expect(await listFoundHits(deps, org.id, id!)).toEqual(hits);
    expect(await listRaised(org, id!)).toEqual(hits.map(({ entity }) => ({ entity })));
  }
  const windows = await inOrg(
    deps.db,
    org.id,
    (tx) => queryRows<{ n: number; from: Date }>(tx)`
      select count(*) as n, min(window_from) as "from" from memory_windows where detection_id = ${baseline} and examined`,
  );
  expect(windows).toEqual([{ n: expect.any(Number), from: expect.any(Date) }]);
  expect(windows[0]!.n).toBeGreaterThan(30);
  const { runs } = (await org.call('GET', `/api/detections/${baseline}/runs`)).body;
  const late = runs.flatMap(({ warnings }: { warnings: { code: string; detail: string }[] }) =>
    warnings.filter(({ code }) => code === 'late_data'),
  );
  expect(late[0].detail).toMatch(/earlier windows that they belong to are examined again/);
});

test('a backlog that arrives days later counts in its own slots, up to the look-back before the detection', async () => {
  const org = await newOrg();
  now = at(created);
  const grouped = {
    ...lateDetection('custom'),
    detectionQuery: `${lateQueries.baseline_anomaly} HAVING count(*) > 20`,
  };
  const { id } = (await org.call('POST', '/api/detections', grouped)).body;
  const arrivalHours = created + 60;
  const late = [burst(created - 40, 'ada'), burst(created - 6, 'eve')].flat().map(({ event }) => ({
    event,
    lateMinutes: (at(arrivalHours, 5).getTime() - event.time.getTime()) / minuteMs,
  }));
  await replayArrivals(deps, late, {
    midnight: at(arrivalHours - 1).getTime(),
    hours: 3,
    setNow: (time) => void (now = time),
    send: async (list) => void (await org.call('POST', '/api/logs/app', list)),
  });
  expect(await listFoundHits(deps, org.id, id)).toEqual([{ entity: 'eve', window: at(created - 6).toISOString() }]);
});

test('a single event is matched when it arrives, however old it is', async () => {
  const org = await newOrg();
  now = at(created);
  const single = { ...lateDetection('custom'), detectionQuery: `${lateQueries.first_occurrence} WHERE user = 'eve'` };
  const { id } = (await org.call('POST', '/api/detections', single)).body;
  const events = burst(created - 40, 'eve', {}, 1);
  const send = async (list: object[]): Promise<void> => void (await org.call('POST', '/api/logs/app', list));
  const late = events.map(({ event }) => ({ event, lateMinutes: 40 * 60 + 10 }));
  await replayArrivals(deps, late, {
    midnight: at(created).getTime(),
    hours: 2,
    setNow: (time) => void (now = time),
    send,
  });
  expect(await listFoundHits(deps, org.id, id)).toEqual([{ entity: 'eve', window: at(created).toISOString() }]);
});
