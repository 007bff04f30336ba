import { sql, type RawBuilder } from 'kysely';
import { queryRows, type Tx } from '../../../platform/db/db.ts';
import { runAtOnce, runInSlices, type Steps } from '../../../platform/lib/concurrency/slices.ts';
import {
  encodeRecordset,
  toEncodedColumnset,
  toRecordset,
  type EncodedColumn,
} from '../../../platform/db/recordset.ts';
import type { Term } from '../../model/terms.ts';
import type { SearchText } from '../search-terms/search-text.ts';
import { toIndexText } from '../search-terms/characters.ts';
import {
  encodeItems,
  encodeVersions,
  insertItemsStatement,
  insertVersionsStatement,
  updateItemsStatement,
  type ItemWrite,
  type UnnumberedWrite,
} from './item-columns.ts';

/** New items, encoded for the database. */
export type EncodedAdditions = {
  items: EncodedColumn[];
  versions: EncodedColumn[];
  searchTexts: EncodedColumn[];
  /** In parts of bounded size. */
  terms: EncodedColumn[][];
};

/** Encodes new items for `writeItems`, as many as it writes in one statement. Lets the event loop run every `sliceMs`. */
export async function encodeAdditions(writes: UnnumberedWrite[], sliceMs: number): Promise<EncodedAdditions[]> {
  const encoded: EncodedAdditions[] = [];
  for (const batch of batches(writes)) encoded.push(await runInSlices(encodeInSteps(batch), sliceMs));
  return encoded;
}

function* encodeInSteps(writes: UnnumberedWrite[]): Steps<EncodedAdditions> {
  const items = encodeItems(writes);
  yield;
  const versions = encodeVersions(writes);
  yield;
  const searchTexts = encodeSearchTexts(writes);
  yield;
  return { items, versions, searchTexts, terms: encodeTerms(writes) };
}

/**
 * Writes items with their versions, terms and search texts, in statements of bounded size. A write of the first version is a new item, all others
 * update one. `encoded`: the writes, if all of them are new items. Returns the terms that items no longer have.
 */
export async function writeItems(
  tx: Tx,
  writes: ItemWrite[],
  encoded: EncodedAdditions[] = [],
): Promise<RemovedTerm[]> {
  const removed: RemovedTerm[] = [];
  for (const [index, batch] of batches(writes).entries()) {
    const { added, changed } = splitByVersion(batch);
    if (added.length > 0) await insertItems(tx, added, encoded[index] ?? runAtOnce(encodeInSteps(added)));
    if (changed.length > 0) {
      await updateItems(tx, changed);
      removed.push(...(await replaceTerms(tx, changed)));
    }
  }
  return removed;
}

/** Inserts items, versions and search texts in one statement, because the database waits for this process between statements. */
async function insertItems(tx: Tx, writes: ItemWrite[], encoded: EncodedAdditions): Promise<void> {
  const seqs = writes.map(({ seq }) => seq);
  const inserting = sql`
    with inserted as (${insertItemsStatement(encoded.items, seqs)}), versions as (${insertVersionsStatement(encoded.versions)})
    ${insertSearchTextStatement(encoded.searchTexts)}`.execute(tx);
  // Sent together, so that the database does not wait for this process between them.
  await Promise.all([inserting, ...encoded.terms.map((part) => insertTerms(tx, part))]);
}

/** Updates items before their search texts: a trigger keeps the previous state of both. */
async function updateItems(tx: Tx, items: ItemWrite[]): Promise<void> {
  await updateItemsStatement(items).execute(tx);
  await insertVersionsStatement(encodeVersions(items)).execute(tx);
  await updateSearchTexts(tx, items);
}

const splitByVersion = <T extends { version: number }>(items: T[]): { added: T[]; changed: T[] } => ({
  added: items.filter(({ version }) => version === 1),
  changed: items.filter(({ version }) => version > 1),
});

type ItemTerms = { id: string; organizationId: string; poolId: string; terms: Term[] };

export type RemovedTerm = { kind: string; value: string };

const rowsMax = 5_000;
const termTypes = {
  item_id: 'uuid',
  organization_id: 'uuid',
  pool_id: 'uuid',
  kind: 'text',
  value: 'text',
  identifying: 'boolean',
  standing: 'text',
  ends_at: 'timestamptz',
  entity: 'text',
  seen_at: 'timestamptz',
  address: 'inet',
};

/** Encodes the terms of items, in parts of bounded size. */
function encodeTerms(items: ItemTerms[]): EncodedColumn[][] {
  const rows = items.flatMap(toTermRows);
  return Array.from({ length: Math.ceil(rows.length / rowsMax) }, (_, index) =>
    encodeRecordset(rows.slice(index * rowsMax, (index + 1) * rowsMax), termTypes),
  );
}

/**
 * Inserts the terms of new items. The terms of an item are distinct, and the caller has locked the pools of the items, so that no other
 * transaction inserts the same terms.
 */
const insertTerms = (tx: Tx, terms: EncodedColumn[]): Promise<unknown> =>
  sql`insert into item_terms (${termColumns}) select * from ${toEncodedColumnset(terms)}`.execute(tx);

type TermRow = Record<keyof typeof termTypes, string | boolean | null>;

const termColumns = sql.raw(Object.keys(termTypes).join(', '));

const toTermRows = ({ id, organizationId, poolId, terms }: ItemTerms): TermRow[] =>
  terms.map(({ kind, value, identifying = false, standing, entity, address = null }) => ({
    item_id: id,
    organization_id: organizationId,
    pool_id: poolId,
    kind,
    value,
    identifying,
    standing: typeof standing === 'string' ? standing : null,
    ends_at: typeof standing === 'object' ? (standing.endsAt?.toISOString() ?? null) : null,
    entity: entity?.name ?? null,
    seen_at: entity?.seenAt ?? null,
    address,
  }));

/**
 * Replaces the terms of items: deletes the stored ones that are not among the new ones, and inserts the new ones that are not stored. Returns
 * the terms that items no longer have. The caller has locked the pools of the items.
 */
export function replaceTerms(tx: Tx, items: ItemTerms[]): Promise<RemovedTerm[]> {
  const ids = items.map(({ id }) => id);
  const isSameTerm = sql`n.item_id = t.item_id and n.kind = t.kind and n.value = t.value`;
  const isSameRow = sql`${isSameTerm} and (n.identifying, n.standing, n.ends_at, n.entity, n.seen_at, n.address)
    is not distinct from (t.identifying, t.standing, t.ends_at, t.entity, t.seen_at, t.address)`;
  return queryRows<RemovedTerm>(tx)`
    with n as materialized (select * from ${toRecordset(items.flatMap(toTermRows), termTypes)}),
    stored as materialized (select * from item_terms where item_id = any(${ids}::uuid[])),
    added as (insert into item_terms (${termColumns}) select ${termColumns} from n where not exists (select from stored t where ${isSameRow})),
    t as (
      delete from item_terms t where t.item_id = any(${ids}::uuid[]) and not exists (select from n where ${isSameRow})
      returning t.item_id, t.kind, t.value
    )
    select t.kind, t.value from t where not exists (select from n where ${isSameTerm})`;
}

type SearchedItem = Pick<ItemWrite, 'id' | 'organizationId' | 'poolId' | 'addedToFeedAt' | keyof SearchText>;

const searchTypes = {
  item_id: 'uuid',
  organization_id: 'uuid',
  pool_id: 'uuid',
  added_to_feed_at: 'timestamptz',
  title: 'text',
  head: 'text',
  body: 'text',
};

function encodeSearchTexts(items: SearchedItem[]): EncodedColumn[] {
  const texts = items.map(({ id, organizationId, poolId, addedToFeedAt, searchTitle, searchHead, searchBody }) => ({
    item_id: id,
    organization_id: organizationId,
    pool_id: poolId,
    added_to_feed_at: addedToFeedAt,
    title: toIndexText(searchTitle),
    head: toIndexText(searchHead),
    body: toIndexText(searchBody),
  }));
  return encodeRecordset(texts, searchTypes);
}

const insertSearchTextStatement = (texts: EncodedColumn[]): RawBuilder<unknown> => sql`
  insert into item_search (organization_id, item_id, pool_id, added_to_feed_at, words)
  select n.organization_id, n.item_id, n.pool_id, n.added_to_feed_at, tocsin_words(n.title, n.head, n.body) from ${toEncodedColumnset(texts)}`;

/** Replaces the search texts of items that changed. */
export async function updateSearchTexts(tx: Tx, items: SearchedItem[]): Promise<void> {
  await sql`${insertSearchTextStatement(encodeSearchTexts(items))}
    on conflict (item_id) do update set words = excluded.words
      where item_search.words is distinct from excluded.words`.execute(tx);
}

/** Erases the content of the previous states of items that their audience may no longer see. Their list positions remain until retention deletes them. */
export async function eraseStateContent(tx: Tx, ids: string[]): Promise<void> {
  if (ids.length > 0)
    await sql`
      update item_states s set title = i.title, publish_time = null, doc = i.doc, next_expiry_at = null, terms = '{}', words = null
      from items i where i.id = s.item_id and i.id = any(${ids}::uuid[])`.execute(tx);
}

const batchMax = 500;

/** Splits a list into batches of at most 500. */
export const batches = <T>(list: T[]): T[][] =>
  Array.from({ length: Math.ceil(list.length / batchMax) }, (_, index) =>
    list.slice(index * batchMax, (index + 1) * batchMax),
  );
