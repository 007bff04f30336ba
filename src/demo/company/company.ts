import { type Day, dayMs, hourMs, drawShift, people } from './people.ts';
import { generateSignIns, generateCloudCalls, generateProcessStarts, generateWebRequests } from './habits.ts';
import { generateHarmlessIncidents } from './incidents.ts';
import { generateIntrusion } from './intrusion.ts';
import { createRandom } from './random.ts';
import { generateServiceEvents } from './services.ts';
import type { LogEvent } from './shapes.ts';

/** Generates the events of one date. Each person has a separate random sequence, so that people do not affect each other. */
function* generateDay(day: Day): Generator<LogEvent> {
  yield* generateServiceEvents(day, createRandom(day.seed, day.midnight, 'services'));
  for (const person of people) {
    const random = createRandom(day.seed, day.midnight, person.user);
    const shift = drawShift(person, day, random);
    if (shift === undefined) continue;
    yield* generateSignIns(person, day, shift, random);
    yield* generateProcessStarts(person, shift, random);
    yield* generateWebRequests(person, shift, random);
    yield* generateCloudCalls(person, shift, random);
  }
}

/**
 * Generates the logs of a fictional company: `days` days up to `end` (exclusive), ordered by time, about 3,000 events per day in the datasets
 * `auth`, `process`, `proxy` and `cloudtrail`. Deterministic for `end`, `days` and `seed`. The intrusion is in the last 31 full hours.
 */
export function* generateCompanyLogs(options: { end: Date; days?: number; seed?: number }): Generator<LogEvent> {
  const { days = 14, seed = 1 } = options;
  const end = options.end.getTime();
  const start = end - days * dayMs;
  const hourZero = Math.floor(end / hourMs) * hourMs;
  let pending = [
    ...generateIntrusion(hourZero),
    ...generateHarmlessIncidents(hourZero, createRandom(seed, 'incidents')),
  ];
  for (let midnight = Math.floor(start / dayMs) * dayMs - dayMs; midnight < end + dayMs; midnight += dayMs) {
    for (const event of generateDay({ midnight, end, seed })) pending.push(event);
    pending = pending
      .filter(({ at }) => at.getTime() >= start && at.getTime() < end)
      .toSorted((a, b) => a.at.getTime() - b.at.getTime());
    // East of Greenwich the next date begins before midnight UTC, so events after noon may still be added.
    const complete = pending.findIndex(({ at }) => at.getTime() >= midnight + dayMs / 2);
    yield* pending.splice(0, complete === -1 ? pending.length : complete);
  }
}
