import { createHash } from 'node:crypto';
import type { QueryRow } from '../../detection/siem/connector.ts';
import type { SweptDataset } from './sighting-fields.ts';
import type { SweepTarget } from './sweep-targets.ts';

const eventMaxChars = 16_000;
const rowsPerIndicatorMax = 20;

/** A log row that contains an indicator of an item. */
export type Sighting = SweepTarget & { dataset: string; eventKey: string; event: string };

/** Matches rows against targets. Returns at most 20 sightings for each indicator of an item. */
export function findSightings(rows: QueryRow[], { dataset, fields }: SweptDataset, targets: SweepTarget[]): Sighting[] {
  const targetsByValue = Map.groupBy(targets, ({ kind, value }) => `${kind} ${value}`);
  const counts = new Map<string, number>();
  return rows.flatMap((row) => {
    const event = JSON.stringify(row['_event'] ?? row);
    const eventKey = typeof row['_id'] === 'string' ? row['_id'] : createHash('sha256').update(event).digest('hex');
    const rowValues = new Set(fields.map(({ name, kind }) => `${kind} ${readField(row, name)}`));
    return [...rowValues]
      .flatMap((key) => targetsByValue.get(key) ?? [])
      .filter(({ itemId, value }) => {
        const key = `${itemId} ${value}`;
        counts.set(key, (counts.get(key) ?? 0) + 1);
        return counts.get(key)! <= rowsPerIndicatorMax;
      })
      .map((target) => ({ ...target, dataset, eventKey, event: event.slice(0, eventMaxChars).toWellFormed() }));
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
