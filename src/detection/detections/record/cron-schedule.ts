import { fieldError } from '../../../platform/lib/errors.ts';
import { nextSlot, normalizeCron, parseCron, slotIntervalMs, toStoredCron } from '../../../platform/lib/time/cron.ts';
import { isTimeZone } from '../../../platform/lib/time/zoned-slots.ts';
import type { Cadence } from './field-schemas.ts';

const cronByCadence: Record<Cadence, string> = { hourly: '0 * * * *', daily: '0 0 * * *', weekly: '0 0 * * 1' };
const occurrenceYearsMax = 5;

type CronColumns = { custom_cron_schedule: string | null; detection_cadence: Cadence | null };
type ScheduleColumns = CronColumns & { cron_timezone: string | null };

/** Returns the cron expression that applies: the custom one, else that of the cadence, else null. */
export function effectiveCron({
  custom_cron_schedule: custom,
  detection_cadence: cadence,
}: CronColumns): string | null {
  return custom ?? (cadence === null ? null : cronByCadence[cadence]);
}

/** Returns the cron expression that applies, with its time zone, as the scheduler stores it. Null without a schedule. */
export function zonedCron(columns: ScheduleColumns): string | null {
  const cron = effectiveCron(columns);
  return cron === null ? null : toStoredCron(cron, columns.cron_timezone);
}

/** Returns the name of a time zone unchanged. Throws 400 if the process does not know it. */
export function parseTimeZone(name: string): string {
  if (isTimeZone(name)) return name;
  throw fieldError(
    '/cronTimezone',
    'unknown_time_zone',
    'must be an IANA time zone such as Europe/Berlin, or null for UTC',
  );
}

/**
 * Validates a custom cron expression and returns its normalized text. Throws 400 if it cannot be parsed, runs more often
 * than hourly, or does not occur within five years of `now`.
 */
export function parseCustomCron(text: string, now: Date): string {
  try {
    const slot = nextSlot(parseCron(text), now);
    const limit = new Date(now);
    limit.setUTCFullYear(limit.getUTCFullYear() + occurrenceYearsMax);
    if (!slot || slot > limit)
      throw new Error(`"${normalizeCron(text)}" does not occur within ${occurrenceYearsMax} years.`);
    return normalizeCron(text);
  } catch (error) {
    throw fieldError('/customCronSchedule', 'invalid_cron', error instanceof Error ? error.message : String(error));
  }
}

/** Throws 400 if the look-back is shorter than twice the longest interval between two slots, so that it always covers two slots. */
export function checkLookback(agent: ScheduleColumns & { lookback_minutes: number | null }): void {
  const cron = zonedCron(agent);
  if (agent.lookback_minutes === null || cron === null) return;
  const minutesMin = (2 * slotIntervalMs(cron)) / 60_000;
  if (agent.lookback_minutes < minutesMin) {
    throw fieldError(
      '/lookbackMinutes',
      'too_short',
      `must be at least ${minutesMin}, twice the longest interval between slots of "${effectiveCron(agent)}"`,
    );
  }
}

/**
 * Returns whether a detection is enabled after a change of its schedule. An explicit `enabled` wins. Otherwise gaining the
 * first schedule enables it, losing the last one disables it, and any other change keeps the state. Throws 400 if `enabled`
 * is true without a schedule.
 */
export function isEnabledAfter(
  before: { cron: string | null; enabled: boolean },
  cron: string | null,
  explicit: boolean | undefined,
): boolean {
  if (explicit === true && cron === null) {
    throw fieldError(
      '/enabled',
      'no_schedule',
      'enabled requires a schedule: set detectionCadence or customCronSchedule',
    );
  }
  if (cron === null) return false;
  return explicit ?? (before.cron === null ? true : before.enabled);
}
