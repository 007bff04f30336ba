import { createHash } from 'node:crypto';
import type { Row } from '../../detection/siem/connector.ts';
import type { SweptDataset } from './sighting-fields.ts';
import type { Target } from './sweep-targets.ts';

const eventMaxChars = 16_000;
const perValueMax = 20;

/** A row of the logs that holds an indicator of an item. */
export type Exposure = Target & { dataset: string; eventKey: string; event: string };

/** Which rows hold which indicators: at most 20 rows for each indicator of an item. */
export function matchesOf(rows: Row[], { dataset, fields }: SweptDataset, targets: Target[]): Exposure[] {
  const byValue = Map.groupBy(targets, ({ kind, value }) => `${kind} ${value}`);
  const counts = new Map<string, number>();
  return rows.flatMap((row) => {
    const event = JSON.stringify(row['_event'] ?? row);
    const eventKey = typeof row['_id'] === 'string' ? row['_id'] : createHash('sha256').update(event).digest('hex');
    const held = new Set(fields.map(({ name, kind }) => `${kind} ${valueAt(row, name)}`));
    return [...held]
      .flatMap((key) => byValue.get(key) ?? [])
      .filter(({ itemId, value }) => {
        const key = `${itemId} ${value}`;
        counts.set(key, (counts.get(key) ?? 0) + 1);
        return counts.get(key)! <= perValueMax;
      })
      .map((target) => ({ ...target, dataset, eventKey, event: event.slice(0, eventMaxChars).toWellFormed() }));
  });
}

/** A field by its name, or by its path into the event. */
function valueAt(row: Row, name: string): string {
  const event = typeof row['_event'] === 'string' ? (JSON.parse(row['_event']) as unknown) : (row['_event'] ?? row);
  const direct = (event as Row)[name];
  const found = direct ?? name.split('.').reduce<unknown>((at, part) => (at as Row | undefined)?.[part], event);
  return String(found)
    .toLowerCase()
    .replace(/\/(?:32|128)$/, '');
}
