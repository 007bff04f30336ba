import { fieldError } from '../../../platform/lib/errors.ts';
import { nextSlot, normaliseCron, parseCron } from '../../../platform/lib/cron/cron.ts';
import { slotDistanceMs } from '../../../platform/lib/cron/cron-intervals.ts';
import type { Agent } from './detection-row.ts';

const cronOfCadence = { hourly: '0 * * * *', daily: '0 0 * * *', weekly: '0 0 * * 1' };
const acceptedYears = 5;

type Schedule = Pick<Agent, 'custom_cron_schedule' | 'detection_cadence'>;

/** The cron that counts: the custom one, else that of the cadence, else none. */
export function effectiveCron({ custom_cron_schedule: custom, detection_cadence: cadence }: Schedule): string | null {
  return custom ?? (cadence === null ? null : cronOfCadence[cadence]);
}

/** Checks a custom cron and answers the text to keep. 400 for one that cannot be read, is not hourly at most, or does not occur within five years. */
export function readCustomCron(text: string, now: Date): string {
  try {
    const slot = nextSlot(parseCron(text), now);
    const limit = new Date(now);
    limit.setUTCFullYear(limit.getUTCFullYear() + acceptedYears);
    if (!slot || slot > limit)
      throw new Error(`"${normaliseCron(text)}" does not occur within ${acceptedYears} years.`);
    return normaliseCron(text);
  } catch (error) {
    throw fieldError('/customCronSchedule', 'invalid_cron', error instanceof Error ? error.message : String(error));
  }
}

/** A look-back must reach over two slots: 400 for less than twice the longest distance between neighbouring ones. */
export function checkLookback(agent: Agent): void {
  const cron = effectiveCron(agent);
  if (agent.lookback_minutes === null || cron === null) return;
  const least = (2 * slotDistanceMs(cron)) / 60_000;
  if (agent.lookback_minutes < least) {
    throw fieldError(
      '/lookbackMinutes',
      'too_short',
      `must be at least ${least}, twice the longest distance between slots of "${cron}"`,
    );
  }
}

/** Gaining the first schedule enables, losing the last disables, a change keeps; an explicit `enabled` wins, and true needs a schedule (400). */
export function enabledAfter(
  before: { cron: string | null; enabled: boolean },
  cron: string | null,
  explicit: boolean | undefined,
): boolean {
  if (explicit === true && cron === null) {
    throw fieldError('/enabled', 'no_schedule', 'true needs a schedule: give detectionCadence or customCronSchedule');
  }
  if (cron === null) return false;
  return explicit ?? (before.cron === null ? true : before.enabled);
}
