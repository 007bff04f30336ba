import { sql, type RawBuilder } from 'kysely';
import { encodeColumn, encodeColumns, toEncodedColumnset, type EncodedColumn } from '../../../platform/db/recordset.ts';
import type { Term } from '../../model/terms.ts';
import type { SearchText } from '../search-terms/search-text.ts';

type ColumnValue = string | number | Date | string[] | null;

/** A column of an insert. `type` is the PostgreSQL type of the value. */
type Column<T extends ColumnValue> = {
  name: string;
  type: string;
  /** The SQL expression over the row `n` of values, if it is not the value itself. */
  expression?: string;
  /** Set if an update never changes the column. */
  isFixed?: true;
  /** Carries the TypeScript type. Never set. */
  value?: T;
};
type Columns = Record<string, Column<ColumnValue>>;
type RowOf<C extends Columns> = { [K in keyof C]: C[K] extends Column<infer T> ? T : never };

const column = <T extends ColumnValue>(name: string, type: string, expression?: string): Column<T> => ({
  name,
  type,
  ...(expression ? { expression } : {}),
});
const fixed = <T extends ColumnValue>(name: string, type: string, expression?: string): Column<T> => ({
  ...column<T>(name, type, expression),
  isFixed: true,
});
const textList = (name: string): Column<string[]> => column(name, 'text[]');

const itemColumns = {
  id: fixed<string>('id', 'uuid'),
  organizationId: fixed<string>('organization_id', 'uuid'),
  poolId: fixed<string>('pool_id', 'uuid'),
  sourceId: fixed<string | null>('source_id', 'uuid'),
  recordId: fixed<string>('record_id', 'text'),
  generation: fixed<number>('generation', 'int'),
  canonicalKey: fixed<string>('canonical_key', 'text'),
  version: column<number>('version', 'int'),
  contentHash: column<string>('content_hash', 'text'),
  recordHash: column<string>('record_hash', 'text'),
  recordModifiedAt: column<string | null>('record_modified_at', 'timestamptz'),
  related: fixed<string | null>('related', 'uuid', 'array_remove(array[n.related], null)'),
  severity: column<string>('severity', 'text'),
  severityRule: column<string>('severity_rule', 'text'),
  status: column<string>('status', 'text'),
  publisher: column<string>('publisher', 'text'),
  sourceName: column<string>('source_name', 'text'),
  platforms: textList('platforms'),
  title: column<string>('title', 'text'),
  publishTime: column<string | null>('publish_time', 'timestamptz'),
  doc: column<string>('doc', 'text'),
  nextExpiryAt: column<Date | null>('next_expiry_at', 'timestamptz'),
  missingPulls: column<number>('missing_pulls', 'int'),
  seq: column<number>('seq', 'bigint'),
  addedToFeedAt: fixed<Date>('added_to_feed_at', 'timestamptz'),
  createdAt: fixed<Date>('created_at', 'timestamptz'),
  at: column<Date>('last_updated', 'timestamptz'),
  sketch: column<string | null>('sketch', 'text'),
  identifying: column<number>('identifying', 'int'),
  readerVersion: column<number>('reading', 'int'),
} satisfies Columns;

const versionColumns = {
  id: column<string>('item_id', 'uuid'),
  organizationId: column<string>('organization_id', 'uuid'),
  poolId: column<string>('pool_id', 'uuid'),
  version: column<number>('version', 'int'),
  cause: column<string>('cause', 'text'),
  changed: textList('changed'),
  storedText: column<string>('stored_text', 'text'),
  at: column<Date>('at', 'timestamptz'),
  /** The STIX objects that this version was parsed from, as a JSON array. */
  objects: column<string | null>('objects', 'text'),
} satisfies Columns;

/** A new or changed item with its new version, its search text and its terms. */
export type ItemWrite = RowOf<typeof itemColumns> & RowOf<typeof versionColumns> & SearchText & { terms: Term[] };

/** A write without the sequence number, which only the transaction knows. */
export type UnnumberedWrite = Omit<ItemWrite, 'seq'>;

const { seq: seqColumn, ...unnumberedColumns } = itemColumns;

/** Encodes the columns of `items`, except for the sequence numbers. */
export const encodeItems = (writes: UnnumberedWrite[]): EncodedColumn[] => encodeRows(unnumberedColumns, writes);

/** Encodes the columns of `item_versions`. */
export const encodeVersions = (writes: UnnumberedWrite[]): EncodedColumn[] => encodeRows(versionColumns, writes);

/** Inserts encoded items with their sequence numbers. */
export const insertItemsStatement = (items: EncodedColumn[], seqs: number[]): RawBuilder<unknown> =>
  insertStatement('items', itemColumns, [...items, encodeColumn({ ...seqColumn, values: seqs }, true)]);

/** Updates the items with the ids of the writes, except for their fixed columns. */
export function updateItemsStatement(writes: ItemWrite[]): RawBuilder<unknown> {
  const updates = Object.values<Column<ColumnValue>>(itemColumns)
    .filter(({ isFixed }) => !isFixed)
    .map(({ name }) => sql.raw(`${name} = excluded.${name}`));
  const seqs = writes.map(({ seq }) => seq);
  return sql`${insertItemsStatement(encodeItems(writes), seqs)}
    on conflict (id) do update set ${sql.join(updates)}, own_doc = null`;
}

export const insertVersionsStatement = (versions: EncodedColumn[]): RawBuilder<unknown> =>
  insertStatement('item_versions', versionColumns, versions);

const encodeRows = <C extends Columns>(columns: C, rows: RowOf<C>[]): EncodedColumn[] =>
  encodeColumns(
    Object.entries<Column<ColumnValue>>(columns).map(([key, { name, type }]) => ({
      name,
      type,
      values: type === 'text[]' ? rows.map((row) => (row[key] as string[]).toSorted()) : rows.map((row) => row[key]!),
    })),
  );

function insertStatement(table: string, columns: Columns, encoded: EncodedColumn[]): RawBuilder<unknown> {
  const entries = Object.values(columns);
  const names = sql.raw(entries.map(({ name }) => name).join(', '));
  const expressions = sql.raw(entries.map(({ name, expression }) => expression ?? `n.${name}`).join(', '));
  return sql`
    insert into ${sql.raw(table)} (${names})
    select ${expressions} from ${toEncodedColumnset(encoded)}`;
}
