import type { Deps } from '../../../src/app/deps.ts';
import { inOrg, queryRows } from '../../../src/platform/db/db.ts';
import type { OrgId } from '../../../src/platform/lib/org-id.ts';
import { executeDueRuns } from '../../../src/detection/runs/workers/run-loops.ts';

export const hourMs = 3_600_000;
export const minuteMs = 60_000;

/** An event and how many minutes after its own time it arrives. */
export type Arrival = {
  event: { _id: string; time: Date; user: string; action: string; step: number };
  lateMinutes: number;
};

/** Queries of detections on the dataset `app`, by name. */
export const lateQueries = {
  baseline_anomaly: "SELECT (_event->>'$.user') AS user, count(*) AS count FROM app GROUP BY 1",
  first_occurrence: "SELECT _id, _time, (_event->>'$.user') AS user, (_event->>'$.action') AS action FROM app",
  sequence_pattern:
    "SELECT _id, _time, (_event->>'$.user') AS user, step::INT AS step, 2 AS steps FROM app WHERE step::INT > 0",
  custom:
    "SELECT (_event->>'$.user') AS user, count(*) AS count FROM app WHERE (_event->>'$.action') = 'fail' GROUP BY 1 HAVING count(*) > 8",
};
export type LateCategory = keyof typeof lateQueries;

/** Returns the body that creates a detection. */
export const lateDetection = (category: LateCategory) => ({
  name: category,
  detectionCategory: category,
  systemPrompt: 'Judge it.',
  detectionQuery: lateQueries[category],
  detectionCadence: 'hourly',
  entityField: 'user',
  suppressionMinutes: 0,
});

const users = Array.from({ length: 12 }, (_, n) => `user-${String(n).padStart(2, '0')}`);

/** Returns six events of each of twelve users in every hour `[from, hours)` after `midnight`, each on time. */
export const usualArrivals = (midnight: number, hours: number, from = 0): Arrival[] =>
  Array.from({ length: hours - from }, (_, n) => from + n).flatMap((hour) =>
    users.flatMap((user, u) =>
      Array.from({ length: 6 }, (_, n) => ({
        event: {
          _id: `${hour}-${user}-${n}`,
          time: new Date(midnight + hour * hourMs + (n * 9 + 1) * minuteMs + u * 1_000),
          user,
          action: 'read',
          step: 0,
        },
        lateMinutes: 0,
      })),
    ),
  );

/** Holds back the events of `[from, to)` until `to`, as a forwarder that was down does. */
export const holdBack = (arrivals: Arrival[], from: Date, to: Date): Arrival[] =>
  arrivals.map(({ event, lateMinutes }) => {
    const isHeld = event.time >= from && event.time < to;
    return { event, lateMinutes: isHeld ? (to.getTime() - event.time.getTime()) / minuteMs + 2 : lateMinutes };
  });

export type Replay = {
  midnight: number;
  hours: number;
  setNow: (now: Date) => void;
  send: (events: object[]) => Promise<void>;
};

/** Sends the events in the order and at the times of their arrival and runs what is due in each hour until `hours`. */
export async function replayArrivals(
  deps: Deps,
  arrivals: readonly Arrival[],
  { midnight, hours, setNow, send }: Replay,
): Promise<void> {
  const timed = arrivals.map(({ event, lateMinutes }) => ({
    event,
    arrival: event.time.getTime() + lateMinutes * minuteMs,
  }));
  const byHour = Map.groupBy(timed, ({ arrival }) => Math.floor((arrival - midnight) / hourMs));
  for (let hour = 0; hour < hours; hour++) {
    const byMinute = Map.groupBy(byHour.get(hour) ?? [], ({ arrival }) => Math.floor(arrival / minuteMs));
    for (const [minute, list] of [...byMinute].toSorted(([a], [b]) => a - b)) {
      setNow(new Date(minute * minuteMs));
      await send(list.map(({ event }) => event));
    }
    const now = new Date(midnight + (hour + 1) * hourMs);
    setNow(now);
    await executeDueRuns(deps, now, { concurrency: 1 });
  }
}

/** An entity that was found, and the start of the window. */
export type FoundHit = { entity: string; window: string };

/** Lists the occurrences of the open hits of a detection by entity and window. */
export async function listFoundHits({ db }: Pick<Deps, 'db'>, orgId: OrgId, id: string): Promise<FoundHit[]> {
  const rows = await inOrg(
    db,
    orgId,
    (tx) => queryRows<{ entity: string; at: Date }>(tx)`
      select h.entity, o.window_from as at from hits h join hit_occurrences o on o.organization_id = h.organization_id and o.hit_id = h.id
      where h.detection_id = ${id} and h.status = 'open' order by 1, 2`,
  );
  return rows.map(({ entity, at }) => ({ entity, window: at.toISOString() }));
}

/** Returns the candidates of a preview by entity and window. */
export const readPreviewHits = (preview: {
  candidates: { entity: string; facts: { windowFrom: string } }[];
}): FoundHit[] =>
  preview.candidates
    .map(({ entity, facts }) => ({ entity, window: facts.windowFrom }))
    .toSorted((a, b) => (a.entity + a.window < b.entity + b.window ? -1 : 1));
