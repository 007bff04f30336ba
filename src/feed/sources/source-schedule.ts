import { nextSlot, parseCron } from '../../platform/lib/cron/cron.ts';
import type { SourceRow } from './source-row.ts';
import { sourceFormats } from '../formats/registry.ts';

const backOffMs = 5 * 60_000;
const backOffMaxMs = 24 * 3_600_000;
const goOnMs = 60_000;

export const scheduleOf = (source: Pick<SourceRow, 'schedule' | 'kind'>): string =>
  source.schedule ?? sourceFormats[source.kind].defaults.schedule;

/** What a pull's bounds left unread does not wait for the next slot. */
export function nextAfterGood(
  source: SourceRow,
  now: Date,
  { scheduled, more, askedMs }: { scheduled: boolean; more: boolean; askedMs?: number | undefined },
): Date | null {
  const next = nextPull(source, now, { scheduled, failures: 0, askedMs });
  return next && more ? new Date(Math.min(next.getTime(), now.getTime() + goOnMs)) : next;
}

/** A pull by hand leaves the slots alone. After failures the source rests, longer each time or as long as its server asks, up to a day. */
export function nextPull(
  source: SourceRow,
  now: Date,
  { scheduled, failures, askedMs = 0 }: { scheduled: boolean; failures: number; askedMs?: number | undefined },
): Date | null {
  if (!source.enabled) return null;
  if (!scheduled) return source.next_pull_at;
  const usual = failures === 0 ? 0 : backOffMs * 2 ** Math.min(failures - 1, 20);
  const rest = Math.min(backOffMaxMs, Math.max(usual, askedMs));
  return nextSlot(parseCron(scheduleOf(source)), new Date(now.getTime() + rest));
}
