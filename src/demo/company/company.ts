import type { Day } from './calendar.ts';
import { DAY, HOUR, shiftOf } from './calendar.ts';
import { authHabits } from './habits-auth.ts';
import { cloudHabits } from './habits-cloud.ts';
import { processHabits } from './habits-process.ts';
import { proxyHabits } from './habits-proxy.ts';
import { harmlessIncidents } from './incidents.ts';
import { intrusionEvents } from './intrusion.ts';
import { people } from './people.ts';
import { randomOf } from './random.ts';
import { serviceHabits } from './services.ts';
import type { LogEvent } from './shapes.ts';

/** What people and machines do on one date of the calendar; each person's day is drawn on its own, so that no other changes it. */
function* habitsOf(day: Day): Generator<LogEvent> {
  yield* serviceHabits(day, randomOf(day.seed, day.midnight, 'services'));
  for (const person of people) {
    const random = randomOf(day.seed, day.midnight, person.user);
    const shift = shiftOf(person, day, random);
    if (shift === undefined) continue;
    yield* authHabits(person, day, shift, random);
    yield* processHabits(person, shift, random);
    yield* proxyHabits(person, shift, random);
    yield* cloudHabits(person, shift, random);
  }
}

/**
 * The logs of a made-up company: `days` days up to `end` (exclusive), ordered by time, about 3,000 events a day in the datasets
 * `auth`, `process`, `proxy` and `cloudtrail`. The same `end`, `days` and `seed` give the same events. The intrusion lies in the last 31 full hours.
 */
export function* companyLogs(options: { end: Date; days?: number; seed?: number }): Generator<LogEvent> {
  const { days = 14, seed = 1 } = options;
  const end = options.end.getTime();
  const start = end - days * DAY;
  const hourZero = Math.floor(end / HOUR) * HOUR;
  let waiting = [...intrusionEvents(hourZero), ...harmlessIncidents(hourZero, randomOf(seed, 'incidents'))];
  for (let midnight = Math.floor(start / DAY) * DAY - DAY; midnight < end + DAY; midnight += DAY) {
    for (const event of habitsOf({ midnight, end, seed })) waiting.push(event);
    waiting = waiting
      .filter(({ at }) => at.getTime() >= start && at.getTime() < end)
      .toSorted((a, b) => a.at.getTime() - b.at.getTime());
    // East of Greenwich the next date has begun hours before UTC's: what is later than noon may still get company.
    const settled = waiting.findIndex(({ at }) => at.getTime() >= midnight + DAY / 2);
    yield* waiting.splice(0, settled === -1 ? waiting.length : settled);
  }
}
