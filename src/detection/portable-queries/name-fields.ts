import type { FieldPath } from '../log-engine/filters/event-filter.ts';
import type { DatasetFields } from '../siem/connector.ts';
import type { RemoteSiemType } from '../siem/registry.ts';
import type { NameOf } from './to-expression.ts';

/** The location of a dataset for portable queries: `source` in the SIEM, and the field with the event as JSON if the row is not the event. */
export type PortableDataset = { source: string; event?: string | undefined };

/** SIEMs that list columns, and the types of those whose values are objects. The others list every field with its whole path. */
const objectTypes: Partial<Record<RemoteSiemType, RegExp>> = {
  clickhouse: /./,
  // A value of type `json` may have an escape that its text cannot have, which would make the query fail.
  postgres: /^jsonb$/,
  sentinel: /^dynamic$/,
};

/** Returns how a SIEM calls the fields of a dataset. `listed` are the datasets that it lists. */
export function createNameOf(kind: RemoteSiemType, dataset: PortableDataset, listed: readonly DatasetFields[]): NameOf {
  // Splunk finds the fields of an event when it reads the event, and lists only some of them.
  if (kind === 'splunk') return ({ keys, isExact }) => (isExact && !dataset.event ? keys.join('.') : undefined);
  const fields = listed.find((one) => one.dataset === dataset.source)?.fields;
  if (!fields) return () => undefined;
  const objects = objectTypes[kind];
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
