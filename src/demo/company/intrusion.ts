import { hourMs } from './calendar.ts';
import { intrusionSteps } from './intrusion-steps.ts';
import type { LogEvent } from './shapes.ts';

/** A stage of the intrusion with the IDs of its events, which are the same for every seed and end. */
export type IntrusionStage = { stage: string; technique: string; entity: string; eventIds: string[] };

/** Builds a UUID from the numbers of stage and event, which never collides with a random one. */
const buildId = (stage: number, n: number): string =>
  `1a7d0000-0000-4000-8000-${String(stage).padStart(4, '0')}${String(n).padStart(8, '0')}`;

/** The stages that the demo must find, in order. */
export const intrusion: IntrusionStage[] = intrusionSteps.map(({ stage, technique, entity, actions }, place) => ({
  stage,
  technique,
  entity,
  eventIds: actions.map((_, n) => buildId(place + 1, n + 1)),
}));

/** Generates the events of the intrusion in order, relative to the last full hour of the logs (epoch milliseconds). */
export function* generateIntrusion(hourZero: number): Generator<LogEvent> {
  for (const [place, step] of intrusionSteps.entries()) {
    const start = hourZero - step.hoursBefore * hourMs;
    for (const [n, action] of step.actions.entries()) {
      yield action.make({ at: start + action.afterMs, id: buildId(place + 1, n + 1) });
    }
  }
}
