import type { Db } from '../../src/platform/db/db.ts';
import { selectIn } from '../../test/support/select-rows.ts';
import type { ExpectedHit } from './expected-hits.ts';

type StoredHit = { id: string; entity: string; from: Date; occurrences: number; seen: number; judged: boolean; status: string; evidence: string }; // prettier-ignore

/** Returns all hits by detection ID. `seen` is the number of windows with an occurrence. */
export async function readHits(db: Db): Promise<Map<string, StoredHit[]>> {
  const hits = await selectIn(
    db,
  )<StoredHit>`select detection_id as id, entity, window_from as "from", occurrences, judged, status, evidence,
        (select count(distinct o.window_from) from hit_occurrences o where o.organization_id = h.organization_id and o.hit_id = h.id) as seen
        from hits h`;
  return Map.groupBy(hits, ({ id }) => id);
}

/** Compares the hits of one detection with the expected ones. Returns a description of each difference. */
export function findHitDeviations(
  expected: ExpectedHit[],
  stored: StoredHit[],
  toHour: (time: Date) => number,
): string[] {
  const deviations: string[] = [];
  const remaining = new Map(stored.map((hit) => [`${hit.entity} at hour ${toHour(hit.from)}`, hit]));
  if (remaining.size < stored.length) deviations.push(`${stored.length - remaining.size} duplicate hits`);
  for (const hit of expected) {
    const name = `${hit.entity} at hour ${hit.hour}`;
    const storedHit = remaining.get(name);
    remaining.delete(name);
    if (storedHit) deviations.push(...compareHit(hit, storedHit).map((text) => `${name}: ${text}`));
    else if (!hit.isHarmless || hit.hasNoVerdict) deviations.push(`${name} is missing`);
  }
  return [...deviations, ...[...remaining.keys()].map((name) => `${name} is unexpected`)];
}

function compareHit(expected: ExpectedHit, { occurrences, seen, judged, status, evidence }: StoredHit): string[] {
  const deviations: string[] = [];
  if (expected.hasNoVerdict && judged) deviations.push('it has a verdict although the model gives none');
  // A hit that was raised while the model did not respond is dismissed as soon as the model has judged it.
  const expectedStatus = expected.isHarmless && judged ? 'outdated' : 'open';
  if (status !== expectedStatus) deviations.push(`its status is ${status}, expected ${expectedStatus}`);
  if (occurrences !== expected.occurrences || seen !== expected.occurrences)
    deviations.push(`${occurrences} occurrences in ${seen} windows, expected ${expected.occurrences}`);
  const rowIds = (JSON.parse(evidence) as { rowId: string }[]).map(({ rowId }) => rowId);
  if (rowIds.length === 0) deviations.push('no evidence');
  if (expected.ids.length > 0 && rowIds.some((id) => !expected.ids.includes(id)))
    deviations.push(`unexpected evidence ${rowIds.join()}`);
  return deviations;
}
