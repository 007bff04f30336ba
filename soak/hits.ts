import { sql } from 'kysely';
import { acrossOrgs, rows, type Db } from '../src/platform/db/db.ts';
import type { DueHit } from './truth.ts';

type StoredHit = { id: string; entity: string; from: Date; occurrences: number; seen: number; judged: boolean; evidence: string }; // prettier-ignore

/** Every hit by detection. `seen`: the windows of its occurrences. */
export async function readHits(db: Db): Promise<Map<string, StoredHit[]>> {
  const found = await acrossOrgs(db, (tx) =>
    rows(
      tx,
      sql<StoredHit>`select detection_id as id, entity, window_from as "from", occurrences, judged, evidence,
        (select count(distinct o.window_from) from hit_occurrences o where o.organization_id = h.organization_id and o.hit_id = h.id) as seen
        from hits h`,
    ),
  );
  return Map.groupBy(found, ({ id }) => id);
}

/** What differs between the hits that were due and those that are there. */
export function hitFaults(due: DueHit[], stored: StoredHit[], hourOf: (at: Date) => number): string[] {
  const faults: string[] = [];
  const left = new Map(stored.map((hit) => [`${hit.entity} at hour ${hourOf(hit.from)}`, hit]));
  if (left.size < stored.length) faults.push(`${stored.length - left.size} hits are there twice`);
  for (const hit of due) {
    const name = `${hit.entity} at hour ${hit.hour}`;
    const found = left.get(name);
    left.delete(name);
    if (!found) {
      if (!hit.harmless) faults.push(`${name} is missing`);
    } else faults.push(...differences(hit, found).map((text) => `${name}: ${text}`));
  }
  return [...faults, ...[...left.keys()].map((name) => `${name} should not be there`)];
}

function differences(due: DueHit, { occurrences, seen, judged, evidence }: StoredHit): string[] {
  const faults: string[] = [];
  if (due.harmless && judged) faults.push('a model raised it that holds it harmless');
  if (occurrences !== due.occurrences || seen !== due.occurrences)
    faults.push(`seen ${occurrences} times, in ${seen} windows, not ${due.occurrences}`);
  const named = (JSON.parse(evidence) as { rowId: string }[]).map(({ rowId }) => rowId);
  if (named.length === 0) faults.push('no evidence');
  if (due.ids.length > 0 && named.some((id) => !due.ids.includes(id))) faults.push(`evidence ${named.join()}`);
  return faults;
}
