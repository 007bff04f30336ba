import { createHash } from 'node:crypto';
import type { QueryRow } from '../../../detection/siem/connector.ts';
import { sightingMatches, type SightingMatch } from '../../../feed/model/vocabulary.ts';
import { createTargetMatcher, readHost } from '../targets/match-targets.ts';
import type { SweptDataset } from '../targets/sighting-fields.ts';
import type { SweepTarget } from '../targets/sweep-targets.ts';

const eventMaxChars = 16_000;
const observedMaxChars = 2_000;
const rowsPerIndicatorMax = 20;

/**
 * A log row that contains an indicator of an item. `observed` is the value of the row that `match` connects with the indicator, and
 * `observedHost` the host of a URL or the same value.
 */
export type Sighting = SweepTarget & {
  dataset: string;
  eventKey: string;
  event: string;
  match: SightingMatch;
  observed: string;
  observedHost: string;
};

/** Matches rows against targets. Returns at most 20 sightings for each indicator of an item. */
export function findSightings(rows: QueryRow[], { dataset, fields }: SweptDataset, targets: SweepTarget[]): Sighting[] {
  const findTargets = createTargetMatcher(targets);
  const counts = new Map<string, number>();
  return rows.flatMap((row) => {
    const event = JSON.stringify(row['_event'] ?? row);
    const eventKey = typeof row['_id'] === 'string' ? row['_id'] : createHash('sha256').update(event).digest('hex');
    const matches = fields.flatMap(({ name, kind }) => {
      const observed = readField(row, name);
      return findTargets(kind, observed).map((found) => ({ ...found, observed }));
    });
    // A row counts once for an indicator, with the strongest reason.
    const strongest = new Map<SweepTarget, (typeof matches)[number]>();
    for (const kind of sightingMatches)
      for (const found of matches)
        if (found.match === kind && !strongest.has(found.target)) strongest.set(found.target, found);
    return [...strongest.values()]
      .filter(({ target: { itemId, value } }) => {
        const key = `${itemId} ${value}`;
        counts.set(key, (counts.get(key) ?? 0) + 1);
        return counts.get(key)! <= rowsPerIndicatorMax;
      })
      .map(({ target, match, observed }) => ({
        ...target,
        dataset,
        eventKey,
        event: event.slice(0, eventMaxChars).toWellFormed(),
        match,
        observed: observed.slice(0, observedMaxChars).toWellFormed(),
        observedHost: readHost(observed),
      }));
  });
}

/** Returns a field in lower case, found by its name or by its path in the event. Removes the mask of a single address. */
function readField(row: QueryRow, name: string): string {
  const event = typeof row['_event'] === 'string' ? (JSON.parse(row['_event']) as unknown) : (row['_event'] ?? row);
  const direct = (event as QueryRow)[name];
  const value =
    direct ?? name.split('.').reduce<unknown>((parent, part) => (parent as QueryRow | undefined)?.[part], event);
  return String(value)
    .toLowerCase()
    .replace(/\/(?:32|128)$/, '');
}
