import { nextSlot, parseCron } from '../schedule/cron.ts';
import type { SourceRow } from './source-row.ts';
import { sourceFormats } from './sources/registry.ts';

const backOffMs = 5 * 60_000;
const backOffMaxMs = 24 * 3_600_000;
const goOnMs = 60_000;

export const scheduleOf = (source: Pick<SourceRow, 'schedule' | 'kind'>): string =>
  source.schedule ?? sourceFormats[source.kind].defaults.schedule;

/** What a pull's bounds left unread does not wait for the next slot. */
export function nextAfterGood(
  source: SourceRow,
  now: Date,
  { scheduled, more }: { scheduled: boolean; more: boolean },
): Date | null {
  const next = nextPull(source, now, { scheduled, failures: 0 });
  return next && more ? new Date(Math.min(next.getTime(), now.getTime() + goOnMs)) : next;
}

/** A pull by hand leaves the slots alone. After failures the source rests, longer each time, up to a day. */
export function nextPull(
  source: SourceRow,
  now: Date,
  { scheduled, failures }: { scheduled: boolean; failures: number },
): Date | null {
  if (!source.enabled) return null;
  if (!scheduled) return source.next_pull_at;
  const rest = failures === 0 ? 0 : Math.min(backOffMaxMs, backOffMs * 2 ** Math.min(failures - 1, 20));
  return nextSlot(parseCron(scheduleOf(source)), new Date(now.getTime() + rest));
}
