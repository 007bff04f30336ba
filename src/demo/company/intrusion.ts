import { hourMs } from './calendar.ts';
import { intrusionSteps } from './intrusion-steps.ts';
import type { LogEvent } from './shapes.ts';

/** One stage of the intrusion: what it is, whom it is about, and the ids of its events, the same for every seed and end. */
export type IntrusionStage = { stage: string; technique: string; entity: string; eventIds: string[] };

/** Ids that no chance makes: stage and place of the event in it, in the form of a UUID. */
const idOf = (stage: number, n: number): string =>
  `1a7d0000-0000-4000-8000-${String(stage).padStart(4, '0')}${String(n).padStart(8, '0')}`;

/** What the intruder did and must be found, in order. */
export const intrusion: IntrusionStage[] = intrusionSteps.map(({ stage, technique, entity, actions }, place) => ({
  stage,
  technique,
  entity,
  eventIds: actions.map((_, n) => idOf(place + 1, n + 1)),
}));

/** The events of the intrusion, in order, laid backwards from the last full hour of the logs (epoch milliseconds). */
export function* generateIntrusion(hourZero: number): Generator<LogEvent> {
  for (const [place, step] of intrusionSteps.entries()) {
    const start = hourZero - step.hoursBefore * hourMs;
    for (const [n, action] of step.actions.entries()) {
      yield action.make({ at: start + action.afterMs, id: idOf(place + 1, n + 1) });
    }
  }
}
