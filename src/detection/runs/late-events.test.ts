import fc from 'fast-check';
import { expect, test } from 'vitest';
import { startApp, type TestOrg } from '../../../test/support/harness.ts';
import {
  holdBack,
  hourMs,
  lateDetection,
  lateQueries,
  listFoundHits,
  minuteMs,
  readPreviewHits,
  replayArrivals,
  usualArrivals,
  type Arrival,
  type FoundHit,
  type LateCategory,
} from '../../../test/support/detection/late-arrivals.ts';
import { executeDueRuns } from './workers/run-loops.ts';

const midnight = Date.parse('2026-03-02T00:00:00Z');
const at = (hour: number): Date => new Date(midnight + hour * hourMs);
let now = at(0);
const { deps, newOrg } = await startApp({ clock: () => now });

async function create(org: TestOrg, category: LateCategory): Promise<string> {
  const created = await org.call('POST', '/api/detections', lateDetection(category));
  expect(created.status).toBe(200);
  return created.body.id;
}

/** Sends the events in the order and at the times of their arrival and runs what is due in each hour until `hours`. */
const replay = (org: TestOrg, arrivals: Arrival[], hours: number, start = midnight): Promise<void> =>
  replayArrivals(deps, arrivals, {
    midnight: start,
    hours,
    setNow: (time) => void (now = time),
    send: async (events) => {
      const sent = await org.call('POST', '/api/logs/app', events);
      expect(sent.status).toBe(200);
    },
  });

const listHits = (org: TestOrg, id: string): Promise<FoundHit[]> => listFoundHits(deps, org.id, id);

/** Returns the candidates of a preview over all hours that the runs examined. */
async function preview(org: TestOrg, category: LateCategory, hours: number, start = midnight): Promise<FoundHit[]> {
  const body = { ...lateDetection(category), from: new Date(start), to: new Date(start + hours * hourMs) };
  const { status, body: result } = await org.call('POST', '/api/detections/preview', body);
  expect(status).toBe(200);
  return readPreviewHits(result);
}

const usual = (hours: number): Arrival[] => usualArrivals(midnight, hours);

test('raises nothing when a forwarder catches up six hours but a spike in the hour in which it happened, and says that events were late', async () => {
  const org = await newOrg();
  now = at(0);
  const ids = { baseline: await create(org, 'baseline_anomaly'), custom: await create(org, 'custom') };
  const spike = Array.from({ length: 90 }, (_, n): Arrival => ({
    event: {
      _id: `spike-${n}`,
      time: new Date(at(14).getTime() + n * 30_000),
      user: 'user-03',
      action: 'read',
      step: 0,
    },
    lateMinutes: 0,
  }));
  await replay(org, holdBack([...usual(20), ...spike], at(12), at(18)), 20);
  const hits = [{ entity: 'user-03', window: at(14).toISOString() }];
  expect(await listHits(org, ids.baseline)).toEqual(hits);
  expect(await listHits(org, ids.custom)).toEqual([]);
  expect(await preview(org, 'baseline_anomaly', 20)).toEqual(hits);
  const { runs } = (await org.call('GET', `/api/detections/${ids.baseline}/runs`)).body;
  const warned = runs.filter((run: { warnings: { code: string }[] }) =>
    run.warnings.some(({ code }) => code === 'late_data'),
  );
  expect(warned).toHaveLength(1);
  expect(warned[0]).toMatchObject({ trigger: 'schedule', windowFrom: at(18).toISOString() });
  expect(warned[0].warnings[0].detail).toMatch(/^\d+ events arrived up to 6\.\d hours late\. The 6 earlier windows/);
});

test('finds late events that arrived while nothing was examined, as soon as a window is examined again', async () => {
  const org = await newOrg();
  now = at(0);
  const id = await create(org, 'custom');
  const failure = (hour: number, n: number, lateMinutes: number): Arrival => ({
    event: {
      _id: `fail-${hour}-${n}`,
      time: new Date(at(hour).getTime() + n * minuteMs),
      user: 'user-03',
      action: 'fail',
      step: 0,
    },
    lateMinutes,
  });
  const failures = [2, 3].flatMap((hour) => Array.from({ length: 9 }, (_, n) => failure(hour, n, (5 - hour) * 60)));
  await replay(org, failures, 4);
  expect(await listHits(org, id)).toEqual([]);
  now = at(5);
  const sent = await org.call('POST', '/api/logs/app', failures.map(({ event }) => event)); // prettier-ignore
  expect(sent.status).toBe(200);
  // The slots of two days become gaps, the one in which the events arrived included.
  now = at(50);
  await executeDueRuns(deps, now, { concurrency: 1 });
  const { gaps } = (await org.call('GET', `/api/detections/${id}/gaps`)).body;
  expect(gaps).toMatchObject([{ from: at(4).toISOString(), reason: 'late' }]);
  await executeDueRuns(deps, now, { concurrency: 1 });
  expect(await listHits(org, id)).toEqual(
    [2, 3].map((hour) => ({ entity: 'user-03', window: at(hour).toISOString() })),
  );
});

test('warns that an event more than a week late counts in another window of a preview than of the runs', async () => {
  const org = await newOrg();
  const arrived = 8 * 24;
  now = at(0);
  const id = await create(org, 'custom');
  const failures = Array.from({ length: 9 }, (_, n): Arrival => ({
    event: { _id: `f${n}`, time: new Date(at(2).getTime() + n * minuteMs), user: 'eve', action: 'fail', step: 0 },
    lateMinutes: 0,
  }));
  now = new Date(at(arrived).getTime() + 10 * minuteMs);
  await org.call('POST', '/api/logs/app', failures.map(({ event }) => event)); // prettier-ignore
  now = at(arrived + 1);
  await executeDueRuns(deps, now, { concurrency: 1 });
  expect(await listHits(org, id)).toEqual([{ entity: 'eve', window: at(arrived).toISOString() }]);
  const { runs } = (await org.call('GET', `/api/detections/${id}/runs`)).body;
  expect(runs[0].warnings).toMatchObject([
    { code: 'late_data', detail: expect.stringContaining('count in the window in which they arrived') },
  ]);
  const warning = {
    code: 'late_data',
    detail: expect.stringMatching(/^9 events .* more than 7 days late\. .* their hits can differ\.$/),
  };
  for (const hours of [
    [0, 4],
    [arrived - 1, arrived + 1],
  ] as const) {
    const range = { from: at(hours[0]), to: at(hours[1]) };
    const previewed = (await org.call('POST', '/api/detections/preview', { ...lateDetection('custom'), ...range }))
      .body;
    expect(previewed.hits).toBe(hours[0] === 0 ? 1 : 0);
    expect(previewed.warnings).toMatchObject([warning]);
    const backtest = (await org.call('POST', `/api/detections/${id}/backtest`, range)).body;
    expect(backtest.warnings).toMatchObject([warning]);
  }
  const between = { from: at(24), to: at(30) };
  expect((await org.call('POST', `/api/detections/${id}/backtest`, between)).body.warnings).toEqual([]);
});

const hoursMax = 5;
/** Starts of the replay: a day, the end of one, and the end of a month. */
const starts = [midnight, midnight - 5 * hourMs, Date.parse('2026-02-28T19:00:00Z')];
const arrival = (start: number, n: number) =>
  fc
    .record({
      minute: fc.nat(hoursMax * 60 - 1),
      user: fc.constantFrom('a', 'b'),
      action: fc.constantFrom('read', 'write', 'fail'),
      step: fc.constantFrom(0, 1, 2),
      burst: fc.constantFrom(1, 1, 3, 12),
      // Prompt, late, or held back for hours.
      lateMinutes: fc.constantFrom(0, 3, 14, 15, 16, 40, 200),
      // Some events arrive twice, at once or later.
      againMinutes: fc.constantFrom(undefined, 0, 5, 20, 130),
    })
    .map(({ minute, burst, lateMinutes, againMinutes, ...fields }): Arrival[] => {
      const events = Array.from({ length: burst }, (_, k) => ({
        event: { _id: `${n}-${k}`, time: new Date(start + minute * minuteMs + k * 100), ...fields },
        lateMinutes,
      }));
      if (againMinutes === undefined) return events;
      return [
        ...events,
        ...events.slice(0, 2).map(({ event }) => ({ event, lateMinutes: lateMinutes + againMinutes })),
      ];
    });
const world = fc
  .record({ start: fc.constantFrom(...starts), count: fc.integer({ min: 8, max: 16 }) })
  .chain(({ start, count }) =>
    fc
      .tuple(...Array.from({ length: count }, (_, n) => arrival(start, n)))
      .map((lists) => ({ start, arrivals: lists.flat() })),
  );

test('the hits do not depend on the order of arrival, and a preview and a backtest show the same', async () => {
  const property = fc.asyncProperty(world, async ({ start, arrivals }) => {
    const org = await newOrg();
    now = new Date(start);
    const categories = Object.keys(lateQueries) as LateCategory[];
    const ids: string[] = [];
    for (const category of categories) ids.push(await create(org, category));
    const hours = hoursMax + 7;
    await replay(org, arrivals, hours, start);
    for (const [index, category] of categories.entries()) {
      const hits = await listHits(org, ids[index]!);
      expect(hits, category).toEqual(await preview(org, category, hours, start));
      const range = { from: new Date(start), to: new Date(start + hours * hourMs) };
      const { body } = await org.call('POST', `/api/detections/${ids[index]}/backtest`, range);
      expect(body, category).toMatchObject({ warnings: [], versions: [{ candidates: hits.length }] });
    }
  });
  await fc.assert(property, { numRuns: 2 });
});
