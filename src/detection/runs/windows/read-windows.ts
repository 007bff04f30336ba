import { inOrg, type Db } from '../../../platform/db/db.ts';
import type { Clock } from '../../../platform/lib/time/clock.ts';
import { readTimeRange } from '../../../platform/lib/page-request.ts';
import type { Caller } from '../../../platform/http/caller.ts';
import { getDetectionState } from '../detection-state.store.ts';
import type { WindowList, WindowsQuery } from './windows.schema.ts';
import { findTimeLine, listWindows } from './windows.store.ts';

const windowsMax = 2000;

/** Returns the time line of a detection, deleted or not: what was examined, what waits, and what was not examined. */
export async function getWindows(
  { db, clock }: { db: Db; clock: Clock },
  { orgId }: Caller,
  detectionId: string,
  query: WindowsQuery,
): Promise<WindowList> {
  const range = readTimeRange(query, { now: clock(), defaultDays: 30, maxDays: 366 });
  return inOrg(db, orgId, async (tx) => {
    await getDetectionState(tx, orgId, detectionId);
    const key = { orgId, detectionId };
    const timeLine = await findTimeLine(tx, key);
    const rows = await listWindows(tx, key, { ...range, limit: windowsMax + 1 });
    const windows = rows.slice(0, windowsMax).toReversed();
    return {
      from: range.from.toISOString(),
      to: range.to.toISOString(),
      coverageFrom: timeLine?.coverageFrom.toISOString() ?? null,
      plannedTo: timeLine?.plannedTo.toISOString() ?? null,
      nextRunAt: timeLine?.nextRunAt?.toISOString() ?? null,
      windows: windows.map((window) => ({
        ...window,
        from: window.from.toISOString(),
        to: window.to.toISOString(),
        runAt: window.runAt?.toISOString() ?? null,
      })),
      isComplete: rows.length <= windowsMax,
    };
  });
}
