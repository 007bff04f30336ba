import { createHash } from 'node:crypto';
import { composeEvent } from '../log-ingest/events/parse-event.ts';
import { getValueAtPath, parseTimeOrDate } from '../log-ingest/events/event-time.ts';
import type { ForeignEvent } from '../log-query/search/fixture-store.ts';
import type { QueryRow } from '../siem/connector.ts';
import { remoteConnectors, type RemoteSiemType } from '../siem/connectors/registry.ts';
import type { PortableDataset } from './to-expression.ts';

type Format = { kind: RemoteSiemType; dataset: PortableDataset; timeField: string };

/** Returns the events of a SIEM's rows. `skipped`: rows that are no events for the log store, because they are too large or too deep. */
export function readEvents(
  rows: readonly QueryRow[],
  { kind, dataset, timeField }: Format,
): { events: ForeignEvent[]; skipped: number } {
  const events: ForeignEvent[] = [];
  const copies = new Map<string, number>();
  for (const row of rows) {
    const parsed = composeEvent(unwrap(row, kind, dataset), parseTimeOrDate(getValueAtPath(row, timeField)));
    if (typeof parsed === 'string') continue;
    const id = row['_id'] ?? row['_ItemId'] ?? parsed.id ?? nameContent(parsed.text, copies);
    events.push({
      event: parsed.value,
      id: String(id),
      ...(parsed.timeMicros === undefined ? {} : { timeMicros: parsed.timeMicros }),
    });
  }
  return { events, skipped: rows.length - events.length };
}

/** Returns the event in a row. A field that should have JSON but has none leaves the row. */
function unwrap(row: QueryRow, kind: RemoteSiemType, { event }: PortableDataset): QueryRow {
  const field = event ?? remoteConnectors[kind].eventField;
  return (field === null ? undefined : toObject(getValueAtPath(row, field))) ?? row;
}

function toObject(value: unknown): QueryRow | undefined {
  let parsed = value;
  if (typeof value === 'string') {
    try {
      parsed = JSON.parse(value);
    } catch {
      return undefined;
    }
  }
  return parsed !== null && typeof parsed === 'object' && !Array.isArray(parsed) ? (parsed as QueryRow) : undefined;
}

/** Names an event without an ID by its content, and equal events of a window by their number. */
function nameContent(text: string, copies: Map<string, number>): string {
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 32);
  const copy = copies.get(hash) ?? 0;
  copies.set(hash, copy + 1);
  return copy === 0 ? hash : `${hash}-${copy}`;
}
