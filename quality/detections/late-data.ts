import { buildApp } from '../../src/app/http-server.ts';
import type { Deps } from '../../src/app/deps.ts';
import { createCaller, createOrganizationWithKey, type ApiCall } from '../../test/support/api-client.ts';
import {
  holdBack,
  hourMs,
  lateDetection,
  listFoundHits,
  minuteMs,
  readPreviewHits,
  replayArrivals,
  usualArrivals,
  type Arrival,
  type FoundHit,
} from '../../test/support/detection/late-arrivals.ts';
import { withInProcessProgram } from '../../test/support/program-environment.ts';
import type { QualityFigure } from '../figures.ts';

const midnight = Date.parse('2026-03-02T00:00:00Z');
const at = (hour: number, minute = 0): Date => new Date(midnight + hour * hourMs + minute * minuteMs);
const categories = ['baseline_anomaly', 'first_occurrence', 'sequence_pattern'] as const;
type Category = (typeof categories)[number];

const historyHours = 20;
const lags = [3, 6, 24];

type Planted = { arrivals: Arrival[]; truth: Record<Category, { entity: string; time: Date }[]> };

/** Returns a spike, a new action and a sequence of two steps of three users, all of which end in the hour. */
function plant(hour: number, firstUser: number): Planted {
  const user = (n: number): string => `user-${String(firstUser + n).padStart(2, '0')}`;
  const event = (minute: number, name: string, more: Partial<Arrival['event']>): Arrival => ({
    event: { _id: `${name}-${hour}`, time: at(hour, minute), user: user(0), action: 'read', step: 0, ...more },
    lateMinutes: 0,
  });
  const spike = Array.from({ length: 90 }, (_, n) => event(n / 2, `spike-${n}`, {}));
  return {
    arrivals: [
      ...spike,
      event(10, 'new', { user: user(1), action: `action-of-${hour}` }),
      event(12, 'step-1', { user: user(2), step: 1 }),
      event(40, 'step-2', { user: user(2), step: 2 }),
    ],
    truth: {
      baseline_anomaly: [{ entity: user(0), time: at(hour) }],
      first_occurrence: [{ entity: user(1), time: at(hour) }],
      sequence_pattern: [{ entity: user(2), time: at(hour) }],
    },
  };
}

type Outcome = { hits: FoundHit[]; preview: FoundHit[]; backtest: number };
type Place = { deps: Deps; url: string; setNow: (now: Date) => void };

/** Runs the three detections in an organization of their own while the events arrive, then previews and backtests them. */
async function runDetections(
  { deps, url, setNow }: Place,
  arrivals: Arrival[],
  { hours, withTime }: { hours: number; withTime: boolean },
): Promise<Map<Category, Outcome>> {
  setNow(at(0));
  const { id: orgId, key } = await createOrganizationWithKey(deps, `late-${hours}-${withTime}`);
  const call: ApiCall = createCaller(url, key);
  const ids = new Map<Category, string>();
  for (const category of categories)
    ids.set(category, (await call('POST', '/api/detections', lateDetection(category))).id);
  const send = async (events: object[]): Promise<void> => {
    // Without a time of its own, an event has that of its arrival.
    await call('POST', '/api/logs/app', withTime ? events : events.map((one) => ({ ...one, time: undefined })));
  };
  await replayArrivals(deps, arrivals, { midnight, hours, setNow, send });
  const range = { from: at(0), to: at(hours) };
  const outcomes = new Map<Category, Outcome>();
  for (const [category, id] of ids) {
    const preview = await call('POST', '/api/detections/preview', { ...lateDetection(category), ...range });
    const backtest = await call('POST', `/api/detections/${id}/backtest`, range);
    const hits = await listFoundHits(deps, orgId, id);
    outcomes.set(category, { hits, preview: readPreviewHits(preview), backtest: backtest.versions[0].candidates });
  }
  return outcomes;
}

const keyOf = ({ entity, window }: FoundHit): string => `${entity} ${window}`;

/** Returns how many hits are none of the planted anomalies, and how many of those were found, by entity and window. */
function compare(hits: FoundHit[], planted: FoundHit[]): { wrong: number; found: number } {
  const expected = new Set(planted.map(keyOf));
  const found = new Set(hits.map(keyOf).filter((key) => expected.has(key)));
  return { wrong: hits.filter((hit) => !expected.has(keyOf(hit))).length, found: found.size };
}

/**
 * Measures detections on the embedded log store while a forwarder catches up 3, 6 and 24 hours: hits that nothing planted explains, planted
 * anomalies that were found, and whether runs, preview and backtest agree. The control gets the same events at the same moments without their own
 * time, so that the slot of each is that of its arrival.
 */
export async function measureLateData(verbose: boolean): Promise<QualityFigure[]> {
  let now = at(0);
  const figures: QualityFigure[] = [];
  await withInProcessProgram(
    async ({ deps }) => {
      const app = await buildApp(deps);
      const url = await app.listen({ host: '127.0.0.1', port: 0 });
      const place = { deps, url, setNow: (time: Date) => void (now = time) };
      try {
        for (const lag of lags) figures.push(...(await measureLag(place, lag, verbose)));
      } finally {
        await app.close();
      }
    },
    () => now,
    { TOCSIN_SPREAD_SECONDS: '0' },
  );
  return figures;
}

async function measureLag(place: Place, lag: number, verbose: boolean): Promise<QualityFigure[]> {
  const hours = historyHours + lag + 4;
  const end = historyHours + lag;
  const planted = [plant(historyHours + 1, 1), plant(end + 2, 5)];
  const all = [...usualArrivals(midnight, hours), ...planted.flatMap(({ arrivals }) => arrivals)];
  const arrivals = holdBack(all, at(historyHours), at(end));
  const own = await runDetections(place, arrivals, { hours, withTime: true });
  const control = await runDetections(place, arrivals, { hours, withTime: false });
  return categories.flatMap((category): QualityFigure[] => {
    const truth = planted.flatMap(({ truth: all }) => all[category]);
    const byTime = truth.map(({ entity, time }) => ({ entity, window: time.toISOString() }));
    const byArrival = truth.map(({ entity, time }) => ({
      entity,
      window: (time >= at(historyHours) && time < at(end) ? at(end) : time).toISOString(),
    }));
    const { hits, preview, backtest } = own.get(category)!;
    const result = compare(hits, byTime);
    const controlled = compare(control.get(category)!.hits, byArrival);
    if (verbose) console.log(lag, category, { hits, preview, backtest, control: control.get(category)!.hits });
    const isSame = JSON.stringify(hits) === JSON.stringify(preview) && backtest === hits.length;
    const name = `${category}, ${lag} hours late`;
    const needsWrong = category === 'baseline_anomaly';
    return [
      { name: `${name}: hits of nothing planted`, measured: `${result.wrong}`, target: '0', isMet: result.wrong === 0 },
      {
        name: `${name}: planted anomalies found, entity and window`,
        measured: `${result.found} of ${truth.length}`,
        target: `${truth.length}`,
        isMet: result.found === truth.length,
      },
      {
        name: `${name}: runs, preview and backtest agree`,
        measured: `${hits.length}, ${preview.length} and ${backtest} hits, ${isSame ? 'the same' : 'not the same'}`,
        target: 'the same',
        isMet: isSame,
      },
      {
        name: `${name}: control without the events' own time, hits of nothing planted (planted found)`,
        measured: `${controlled.wrong} (${controlled.found} of ${truth.length})`,
        ...(needsWrong ? { target: '> 0', isMet: controlled.wrong > 0 } : {}),
      },
    ];
  });
}
