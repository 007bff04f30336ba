import fc from 'fast-check';
import { expect, test } from 'vitest';
import { startApp, type TestOrg } from '../../../test/support/harness.ts';
import { inOrg, queryRows } from '../../platform/db/db.ts';
import { executeDueRuns } from './workers/execute-due-runs.ts';

const hourMs = 3_600_000;
const minuteMs = 60_000;
const midnight = Date.parse('2026-03-02T00:00:00Z');
const at = (hour: number): Date => new Date(midnight + hour * hourMs);
let now = at(0);
const { deps, newOrg } = await startApp({ clock: () => now });

/** An event and how many minutes after its own time it arrives. */
type Arrival = { event: { _id: string; time: Date; user: string; action: string; step: number }; lateMinutes: number };

const queries = {
  baseline_anomaly: "SELECT (_event->>'$.user') AS user, count(*) AS count FROM app GROUP BY 1",
  first_occurrence: "SELECT _id, _time, (_event->>'$.user') AS user, (_event->>'$.action') AS action FROM app",
  sequence_pattern:
    "SELECT _id, _time, (_event->>'$.user') AS user, step::INT AS step, 2 AS steps FROM app WHERE step::INT > 0",
  custom:
    "SELECT (_event->>'$.user') AS user, count(*) AS count FROM app WHERE (_event->>'$.action') = 'fail' GROUP BY 1 HAVING count(*) > 8",
};
type Category = keyof typeof queries;

const detectionOf = (category: Category) => ({
  name: category,
  detectionCategory: category,
  systemPrompt: 'Judge it.',
  detectionQuery: queries[category],
  detectionCadence: 'hourly',
  entityField: 'user',
  suppressionMinutes: 0,
});

async function create(org: TestOrg, category: Category): Promise<string> {
  const created = await org.call('POST', '/api/detections', detectionOf(category));
  expect(created.status).toBe(200);
  return created.body.id;
}

/** Sends the events in the order and at the times of their arrival and runs what is due in each hour until `hours`. */
async function replay(org: TestOrg, arrivals: Arrival[], hours: number): Promise<void> {
  const timed = arrivals.map(({ event, lateMinutes }) => ({
    event,
    arrival: event.time.getTime() + lateMinutes * minuteMs,
  }));
  for (let hour = 0; hour < hours; hour++) {
    const due = timed.filter(({ arrival }) => arrival >= at(hour).getTime() && arrival < at(hour + 1).getTime());
    const byMinute = Map.groupBy(due, ({ arrival }) => Math.floor(arrival / minuteMs));
    for (const [minute, list] of [...byMinute].toSorted(([a], [b]) => a - b)) {
      now = new Date(minute * minuteMs);
      const sent = await org.call(
        'POST',
        '/api/logs/app',
        list.map(({ event }) => event),
      );
      expect(sent.status).toBe(200);
    }
    now = at(hour + 1);
    await executeDueRuns(deps, now, { concurrency: 1 });
  }
}

type FoundHit = { entity: string; window: string };

async function listHits(org: TestOrg, id: string): Promise<FoundHit[]> {
  const rows = await inOrg(
    deps.db,
    org.id,
    (tx) => queryRows<{ entity: string; at: Date }>(tx)`
      select h.entity, o.window_from as at from hits h join hit_occurrences o on o.organization_id = h.organization_id and o.hit_id = h.id
      where h.detection_id = ${id} and h.status = 'open' order by 1, 2`,
  );
  return rows.map(({ entity, at: window }) => ({ entity, window: window.toISOString() }));
}

/** Returns the candidates of a preview over all hours that the runs examined. */
async function preview(org: TestOrg, category: Category, hours: number): Promise<FoundHit[]> {
  const body = { ...detectionOf(category), from: at(0), to: at(hours) };
  const { status, body: result } = await org.call('POST', '/api/detections/preview', body);
  expect(status).toBe(200);
  return result.candidates
    .map(({ entity, facts }: { entity: string; facts: { windowFrom: string } }) => ({
      entity,
      window: facts.windowFrom,
    }))
    .toSorted((a: FoundHit, b: FoundHit) => (a.entity + a.window < b.entity + b.window ? -1 : 1));
}

const users = Array.from({ length: 12 }, (_, n) => `user-${String(n).padStart(2, '0')}`);
const usual = (hours: number, from = 0): Arrival[] =>
  Array.from({ length: hours - from }, (_, n) => from + n).flatMap((hour) =>
    users.flatMap((user, u) =>
      Array.from({ length: 6 }, (_, n) => ({
        event: {
          _id: `${hour}-${user}-${n}`,
          time: new Date(at(hour).getTime() + (n * 9 + 1) * minuteMs + u * 1_000),
          user,
          action: 'read',
          step: 0,
        },
        lateMinutes: 0,
      })),
    ),
  );

/** Holds back the events of the hours `[from, to)` until `to`, as a forwarder that was down does. */
const holdBack = (arrivals: Arrival[], from: number, to: number): Arrival[] =>
  arrivals.map(({ event, lateMinutes }) => {
    const isHeld = event.time >= at(from) && event.time < at(to);
    return { event, lateMinutes: isHeld ? (at(to).getTime() - event.time.getTime()) / minuteMs + 2 : lateMinutes };
  });

test('raises nothing when a forwarder catches up six hours, and says that events were late', async () => {
  const org = await newOrg();
  now = at(0);
  const ids = { baseline: await create(org, 'baseline_anomaly'), custom: await create(org, 'custom') };
  await replay(org, holdBack(usual(20), 12, 18), 20);
  expect(await listHits(org, ids.baseline)).toEqual([]);
  expect(await listHits(org, ids.custom)).toEqual([]);
  expect(await preview(org, 'baseline_anomaly', 20)).toEqual([]);
  const { runs } = (await org.call('GET', `/api/detections/${ids.baseline}/runs`)).body;
  const warned = runs.filter((run: { warnings: { code: string }[] }) =>
    run.warnings.some(({ code }) => code === 'late_data'),
  );
  expect(warned).toHaveLength(1);
  expect(warned[0]).toMatchObject({ trigger: 'schedule', windowFrom: at(18).toISOString() });
  expect(warned[0].warnings[0].detail).toMatch(/^\d+ events arrived up to 6\.\d hours late\. The 6 earlier windows/);
});

test('finds a spike inside of late data in the hour in which it happened', async () => {
  const org = await newOrg();
  now = at(0);
  const id = await create(org, 'baseline_anomaly');
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
  await replay(org, holdBack([...usual(20), ...spike], 12, 18), 20);
  expect(await listHits(org, id)).toEqual([{ entity: 'user-03', window: at(14).toISOString() }]);
  expect(await preview(org, 'baseline_anomaly', 20)).toEqual(await listHits(org, id));
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

const hoursMax = 9;
const arrival = (n: number) =>
  fc
    .record({
      minute: fc.nat(hoursMax * 60 - 1),
      user: fc.constantFrom('a', 'b'),
      action: fc.constantFrom('read', 'write', 'fail'),
      step: fc.constantFrom(0, 1, 2),
      burst: fc.constantFrom(1, 1, 3, 12),
      // Prompt, late, or held back for hours. Some events arrive twice.
      lateMinutes: fc.constantFrom(0, 3, 14, 40, 200, 420),
      again: fc.boolean(),
    })
    .map(({ minute, burst, lateMinutes, again, ...fields }): Arrival[] => {
      const events = Array.from({ length: burst }, (_, k) => ({
        event: { _id: `${n}-${k}`, time: new Date(at(0).getTime() + minute * minuteMs + k * 100), ...fields },
        lateMinutes,
      }));
      return again ? [...events, ...events.slice(0, 1)] : events;
    });
const world = fc
  .integer({ min: 8, max: 25 })
  .chain((count) => fc.tuple(...Array.from({ length: count }, (_, n) => arrival(n))));

test.each(Object.keys(queries) as Category[])(
  '%s: the hits do not depend on the order of arrival, and a preview shows the same',
  async (category) => {
    const property = fc.asyncProperty(world, async (lists) => {
      const org = await newOrg();
      now = at(0);
      const id = await create(org, category);
      const hours = hoursMax + 9;
      await replay(org, lists.flat(), hours);
      expect(await listHits(org, id)).toEqual(await preview(org, category, hours));
    });
    await fc.assert(property, { numRuns: 2 });
  },
  120_000,
);
