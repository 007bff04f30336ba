import { createHash } from 'node:crypto';
import { anyOf, type Expression, type ValueTest } from '../matching/expression.ts';
import type { EventFilter, FieldPath } from '../log-engine/inspection/event-filter.ts';
import type { DatasetFields, QueryRow } from '../siem/connector.ts';
import { remoteConnectors, type RemoteSiemType } from '../siem/connectors/registry.ts';
import { composeEvent } from '../log-ingest/events/parse-event.ts';
import { getValueAtPath, parseTimeOrDate } from '../log-ingest/events/event-time.ts';
import type { ForeignEvent } from '../log-query/search/fixture-store.ts';

/** Returns the name of a path in a SIEM, null if the SIEM has no such field, and undefined if that is not known. */
type NameOf = (path: FieldPath) => string | null | undefined;

/** `canWrite`: the SIEM's language can express the condition. */
type Target = { nameOf: NameOf; canWrite: (match: Expression) => boolean };

/** Returns the part of a filter that a SIEM can apply, or undefined if it would have to return every event. */
export function toExpression(filter: EventFilter, target: Target): Expression | undefined {
  if (filter.kind === 'test') return toMatches(filter.paths, filter.test, target);
  const parts = filter.of.map((one) => toExpression(one, target));
  const known = parts.filter((part) => part !== undefined);
  if (filter.kind === 'any') return known.length === parts.length ? anyOf(known) : undefined;
  if (known.length === 0) return undefined;
  return known.length === 1 ? known[0] : { kind: 'all', of: known };
}

function toMatches(paths: readonly FieldPath[], test: ValueTest, { nameOf, canWrite }: Target): Expression | undefined {
  const names = paths.map(nameOf);
  const known = [...new Set(names.filter((name) => typeof name === 'string'))];
  // If the SIEM has none of the fields, its list may be incomplete.
  if (names.includes(undefined) || known.length === 0) return undefined;
  const matches = known.map((field): Expression => ({ kind: 'match', field, test }));
  return matches.every((match) => canWrite(match)) ? anyOf(matches) : undefined;
}

/** The location of a dataset for portable queries: `source` in the SIEM, and the field with the event as JSON if the row is not the event. */
export type PortableDataset = { source: string; event?: string | undefined };

/** Returns how a SIEM calls the fields of a dataset. `listed` are the datasets that it lists. */
export function createNameOf(kind: RemoteSiemType, dataset: PortableDataset, listed: readonly DatasetFields[]): NameOf {
  const { listsAllFields, objectColumns: objects } = remoteConnectors[kind];
  if (!listsAllFields) return ({ keys, isExact }) => (isExact && !dataset.event ? keys.join('.') : undefined);
  const fields = listed.find((one) => one.dataset === dataset.source)?.fields;
  if (!fields) return () => undefined;
  if (objects) return (path) => nameInColumn(path, { fields, objects, event: dataset.event });
  if (dataset.event !== undefined) return () => undefined;
  return ({ keys }) => findSpelling(keys.join('.'), fields);
}

type Fields = DatasetFields['fields'];
type Columns = { fields: Fields; objects: RegExp; event: string | undefined };

function nameInColumn({ keys, isExact }: FieldPath, { fields, objects, event }: Columns): string | null | undefined {
  if (keys.some((key) => key.includes('.'))) return undefined;
  if (event === undefined && !isExact) return findSpelling(keys[0]!, fields);
  // The spelling of a key inside of an object is not known.
  if (!isExact) return undefined;
  const path = event === undefined ? keys : [...event.split('.'), ...keys];
  const column = fields.find(({ name }) => name === path[0]);
  if (path.length === 1 || !column) return column ? path[0]! : null;
  if (objects.test(column.type)) return path.join('.');
  // A text with the event cannot be read as JSON without failing on text that is not JSON.
  return event === undefined ? null : undefined;
}

function findSpelling(name: string, fields: Fields): string | null | undefined {
  const found = fields.filter((one) => one.name.toLowerCase() === name.toLowerCase());
  if (found.length > 1) return undefined;
  return found[0]?.name ?? null;
}

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
