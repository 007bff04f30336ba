import type { Tuning } from '../../analysis/tuning.schema.ts';

/** The parts of a detection that decide whether it can be matched when events arrive. */
type Qualifying = {
  category: string | null;
  isScheduled: boolean;
  isLocal: boolean;
  tuning: Tuning | null;
  /** See `QueryCheck`. Undefined: not known before the query is checked. */
  crossEventPart: string | null | undefined;
};

const categoriesOfEvents = ['custom', 'privilege_escalation'];

/** Returns why a detection cannot be matched when events arrive, as a sentence, or null if it can. */
export function findContinuousObstacle({
  category,
  isScheduled,
  isLocal,
  tuning,
  crossEventPart,
}: Qualifying): string | null {
  if (!categoriesOfEvents.includes(category ?? ''))
    return `The category is ${category}, which compares events with others. Only ${categoriesOfEvents.join(' and ')} match single events.`;
  if (!isScheduled) return 'The detection has no schedule, which proves that nothing was missed.';
  const minimum = tuning?.minimumCount ?? 1;
  if (minimum > 1) return `\`tuning.minimumCount\` is ${minimum}, so that a single event is not decisive.`;
  if (!isLocal) return 'The query does not run on the embedded log store.';
  return crossEventPart ? `The query ${crossEventPart}.` : null;
}
