import { nextSlot, parseCron } from '../../platform/lib/time/cron.ts';
import type { SourceRow } from '../ingestion/source-row.ts';
import { sourceFormats } from '../formats/registry.ts';

const backOffMs = 5 * 60_000;
const backOffMaxMs = 24 * 3_600_000;
const continueMs = 60_000;

export const effectiveSchedule = (source: Pick<SourceRow, 'schedule' | 'kind'>): string =>
  source.schedule ?? sourceFormats[source.kind].defaults.schedule;

/** Returns the time of the next pull. If the limits of this pull left records unread, it does not wait for the next slot. */
export function nextPullAfterSuccess(
  source: SourceRow,
  now: Date,
  { isScheduled, hasMore, retryAfterMs }: { isScheduled: boolean; hasMore: boolean; retryAfterMs: number | undefined },
): Date | null {
  const next = nextPull(source, now, { isScheduled, failures: 0, retryAfterMs });
  return next && hasMore ? new Date(Math.min(next.getTime(), now.getTime() + continueMs)) : next;
}

/**
 * Returns the time of the next pull, or null if the source is disabled. A manual pull does not move the next slot. After failures the source
 * is not pulled for an increasing time, or for as long as its server requests, up to a day.
 */
export function nextPull(
  source: SourceRow,
  now: Date,
  pull: { isScheduled: boolean; failures: number; retryAfterMs: number | undefined },
): Date | null {
  const { isScheduled, failures, retryAfterMs = 0 } = pull;
  if (!source.enabled) return null;
  if (!isScheduled) return source.next_pull_at;
  const backOff = failures === 0 ? 0 : backOffMs * 2 ** Math.min(failures - 1, 20);
  const rest = Math.min(backOffMaxMs, Math.max(backOff, retryAfterMs));
  return nextSlot(parseCron(effectiveSchedule(source)), new Date(now.getTime() + rest));
}
