import { hash } from 'node:crypto';
import type { RecalledSummary } from './memory.ts';
import { compareCodeUnits } from '../../../platform/lib/text/canonical-text.ts';

/** So many entities are enough to estimate how often any of them shows something new. */
const sampleMax = 300;

/** Returns 300 of the entities, always the same ones. Each window chooses alike, so the choices of all windows agree. */
export function chooseEntities(entities: Iterable<string>): string[] {
  const list = [...new Set(entities)];
  if (list.length <= sampleMax) return list.toSorted(compareCodeUnits);
  return list
    .map((entity) => ({ entity, rank: hash('sha256', entity) }))
    .toSorted((a, b) => compareCodeUnits(a.rank, b.rank))
    .slice(0, sampleMax)
    .map(({ entity }) => entity)
    .toSorted(compareCodeUnits);
}

/**
 * Returns the settled ones of 300 entities, and how many entities each of the 300 stands for. `summaries` are the chosen entities of each
 * window, with the number of all its entities.
 */
export function sampleEntities(
  summaries: readonly Pick<RecalledSummary, 'entity' | 'value'>[],
  isSettled: (entity: string) => boolean,
): { sampled: Set<string>; sampleWeight: number } {
  const listed = new Set(summaries.map(({ entity }) => entity));
  const chosen = chooseEntities(listed);
  const total = summaries.reduce((most, { value }) => Math.max(most, Number(value)), listed.size);
  return { sampled: new Set(chosen.filter(isSettled)), sampleWeight: total / Math.max(chosen.length, 1) };
}
