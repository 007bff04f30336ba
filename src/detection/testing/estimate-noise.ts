import type { Definition } from '../detections/record/definition.ts';
import type { Estimate } from '../detections/record/detection.schema.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { createTrialRun } from '../runs/execution/trial-run.ts';
import { toQueryError } from './query-failure.ts';
import type { SiemConnection } from '../siem/connector.ts';
import { openSiem, collectHitKeys, simulateTimeRange, type TrialDeps } from './preview.ts';

const dayMs = 86_400_000;
const stretchDays = 7;
/** Of another SIEM, which is asked window by window and may count what it is asked. */
const remoteDays = 1;

/**
 * What a detection would have raised over the last seven days of the organization's own logs, or the last day of another SIEM, on event
 * time; null where they hold nothing that it reads. The built-in analyst judges, so that it costs nothing: a model raises less. Throws what `simulateStretch`
 * throws, 422 for a query that does not run among it.
 */
export async function estimateNoise(
  deps: TrialDeps,
  of: { orgId: OrgId; detectionId: string; definition: Definition },
): Promise<Estimate | null> {
  const now = deps.clock();
  const definition = { ...of.definition, modelAlias: 'analyst' };
  const connection = await openSiem(deps, of.orgId, definition);
  const run = createTrialRun({ ...of, definition }, { connection, clock: 'event', model: 'analyst', at: now });
  const oldest = await oldestEvent(connection, definition);
  if (oldest === null || oldest >= now) return null;
  const days = connection.id === undefined ? stretchDays : remoteDays;
  const from = new Date(Math.max(oldest.getTime(), now.getTime() - days * dayMs));
  const { windows, complete } = await simulateTimeRange(deps, run, { from, to: now }, now);
  const to = windows.at(-1)?.to ?? from;
  const decisions = windows.flatMap((window) => window.decisions);
  const hits = collectHitKeys(decisions).size;
  const length = Math.max((to.getTime() - from.getTime()) / dayMs, 1);
  return {
    from: from.toISOString(),
    to: to.toISOString(),
    windows: windows.length,
    rowsTotal: windows.reduce((sum, { rowsTotal }) => sum + rowsTotal, 0),
    candidates: decisions.length,
    hits,
    hitsPerDay: Math.round((10 * hits) / length) / 10,
    complete,
  };
}

async function oldestEvent(connection: SiemConnection, { detectionQuery }: Definition): Promise<Date | null> {
  try {
    return connection.firstEventAt
      ? await connection.firstEventAt(detectionQuery, AbortSignal.timeout(20_000))
      : new Date(0);
  } catch (error) {
    throw toQueryError(error);
  }
}
