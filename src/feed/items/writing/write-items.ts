import { sql } from 'kysely';
import type { Tx } from '../../../platform/db/db.ts';
import type { Term } from '../../model/terms.ts';
import { writeSearch } from './write-search.ts';
import { writeTerms, type GoneTerm } from './write-terms.ts';

/** An item as it is written, new or changed. */
export type ItemWrite = {
  id: string;
  organizationId: string;
  poolId: string;
  sourceId: string | null;
  recordId: string;
  generation: number;
  canonicalKey: string;
  version: number;
  contentHash: string;
  recordHash: string;
  recordModifiedAt: string | null;
  related: string | null;
  severity: string;
  severityRule: string;
  status: string;
  publisher: string;
  sourceName: string;
  platforms: string[];
  title: string;
  publishTime: string | null;
  doc: string;
  storedText: string;
  /** The STIX objects that this version came as: a JSON list. */
  objects: string | null;
  searchHead: string;
  terms: Term[];
  sketch: string | null;
  identifying: number;
  /** Which reading of its text it comes from. */
  reading: number;
  nextExpiryAt: Date | null;
  missingPulls: number;
  seq: number;
  addedToFeedAt: Date;
  createdAt: Date;
  at: Date;
  cause: string;
  changed: string[];
};

const batchMax = 500;
const batches = <T>(list: T[]): T[][] =>
  Array.from({ length: Math.ceil(list.length / batchMax) }, (_, index) =>
    list.slice(index * batchMax, (index + 1) * batchMax),
  );

/**
 * Writes items, the version, the terms and the words of each, in statements of bounded size. An item whose id is there is changed; what never changes
 * of it stays. Answers the terms that items no longer have.
 */
export async function writeItems(tx: Tx, writes: ItemWrite[]): Promise<GoneTerm[]> {
  const gone: GoneTerm[] = [];
  for (const batch of batches(writes)) {
    const column = <K extends keyof ItemWrite>(name: K): ItemWrite[K][] => batch.map((write) => write[name]);
    const times = (name: 'nextExpiryAt' | 'addedToFeedAt' | 'createdAt' | 'at'): (string | null)[] =>
      batch.map((write) => write[name]?.toISOString() ?? null);
    const lists = (name: 'platforms' | 'changed'): string[] => batch.map((write) => write[name].toSorted().join(','));
    await sql`
      insert into items (organization_id, id, pool_id, source_id, record_id, generation, canonical_key, version, content_hash, record_hash,
        record_modified_at, related, severity, severity_rule, status, publisher, source_name, platforms, title, publish_time, doc,
        next_expiry_at, missing_pulls, seq, added_to_feed_at, created_at, last_updated, sketch, identifying, reading)
      select n.organization_id, n.id, n.pool_id, n.source_id, n.record_id, n.generation, n.canonical_key, n.version, n.content_hash,
        n.record_hash, n.record_modified_at, array_remove(array[n.related], null), n.severity, n.severity_rule, n.status, n.publisher,
        n.source_name, string_to_array(n.platforms, ','), n.title, n.publish_time, n.doc, n.next_expiry_at, n.missing_pulls, n.seq,
        n.added_to_feed_at, n.created_at, n.at, n.sketch, n.identifying, n.reading
      from unnest(${column('organizationId')}::uuid[], ${column('id')}::uuid[], ${column('poolId')}::uuid[], ${column('sourceId')}::uuid[],
        ${column('recordId')}::text[], ${column('generation')}::int[], ${column('canonicalKey')}::text[], ${column('version')}::int[],
        ${column('contentHash')}::text[], ${column('recordHash')}::text[], ${column('recordModifiedAt')}::timestamptz[],
        ${column('related')}::uuid[], ${column('severity')}::text[], ${column('severityRule')}::text[], ${column('status')}::text[],
        ${column('publisher')}::text[], ${column('sourceName')}::text[], ${lists('platforms')}::text[], ${column('title')}::text[],
        ${column('publishTime')}::timestamptz[], ${column('doc')}::text[], ${times('nextExpiryAt')}::timestamptz[],
        ${column('missingPulls')}::int[], ${column('seq')}::bigint[], ${times('addedToFeedAt')}::timestamptz[],
        ${times('createdAt')}::timestamptz[], ${times('at')}::timestamptz[], ${column('sketch')}::text[], ${column('identifying')}::int[],
        ${column('reading')}::int[])
        as n (organization_id, id, pool_id, source_id, record_id, generation, canonical_key, version, content_hash, record_hash,
          record_modified_at, related, severity, severity_rule, status, publisher, source_name, platforms, title, publish_time, doc,
          next_expiry_at, missing_pulls, seq, added_to_feed_at, created_at, at, sketch, identifying, reading)
      on conflict (id) do update set version = excluded.version, content_hash = excluded.content_hash, record_hash = excluded.record_hash,
        record_modified_at = excluded.record_modified_at, severity = excluded.severity, severity_rule = excluded.severity_rule,
        status = excluded.status, publisher = excluded.publisher, source_name = excluded.source_name, platforms = excluded.platforms,
        title = excluded.title, publish_time = excluded.publish_time, doc = excluded.doc, next_expiry_at = excluded.next_expiry_at,
        missing_pulls = excluded.missing_pulls, seq = excluded.seq, last_updated = excluded.last_updated, sketch = excluded.sketch,
        identifying = excluded.identifying, reading = excluded.reading, own_doc = null`.execute(tx);
    await sql`
      insert into item_versions (organization_id, item_id, pool_id, version, cause, changed, stored_text, doc, at, objects)
      select n.organization_id, n.item_id, n.pool_id, n.version, n.cause, string_to_array(n.changed, ','), n.stored_text, n.doc, n.at, n.objects
      from unnest(${column('organizationId')}::uuid[], ${column('id')}::uuid[], ${column('poolId')}::uuid[], ${column('version')}::int[],
        ${column('cause')}::text[], ${lists('changed')}::text[], ${column('storedText')}::text[], ${column('doc')}::text[],
        ${times('at')}::timestamptz[], ${column('objects')}::text[])
        as n (organization_id, item_id, pool_id, version, cause, changed, stored_text, doc, at, objects)`.execute(tx);
    gone.push(...(await writeTerms(tx, batch)));
    await writeSearch(tx, batch);
  }
  return gone;
}

/** Takes the content out of every earlier version of items whose audience lost sight of them. */
export async function emptyVersions(tx: Tx, ids: string[]): Promise<void> {
  if (ids.length > 0)
    await sql`update item_versions set stored_text = '', doc = '', objects = null, changed = '{}' where item_id = any(${ids}::uuid[])`.execute(
      tx,
    );
}

/** What an item counts under. */
export type CountKey = {
  poolId: string;
  severity: string;
  status: string;
  publisher: string;
  sourceName: string;
  platforms: string[];
};

/** Adds up what leaves and what comes, so that totals are right in the moment the items are. The pools must be locked. */
export async function changeCounts(tx: Tx, changes: { key: CountKey; by: 1 | -1 }[]): Promise<void> {
  const sums = new Map<string, { key: CountKey; by: number }>();
  for (const { key, by } of changes) {
    const platforms = key.platforms.toSorted();
    const name = JSON.stringify([key.poolId, key.severity, key.status, key.publisher, key.sourceName, platforms]);
    sums.set(name, { key: { ...key, platforms }, by: (sums.get(name)?.by ?? 0) + by });
  }
  const moved = [...sums.values()].filter(({ by }) => by !== 0);
  if (moved.length === 0) return;
  const column = (read: (key: CountKey) => string): string[] => moved.map(({ key }) => read(key));
  await sql`
    insert into feed_counts (pool_id, severity, status, publisher, source_name, platforms, n)
    select * from unnest(${column((key) => key.poolId)}::uuid[], ${column((key) => key.severity)}::text[], ${column((key) => key.status)}::text[],
      ${column((key) => key.publisher)}::text[], ${column((key) => key.sourceName)}::text[], ${column((key) => key.platforms.join(','))}::text[],
      ${moved.map(({ by }) => by)}::int[])
    on conflict (pool_id, severity, status, publisher, source_name, platforms) do update set n = feed_counts.n + excluded.n`.execute(
    tx,
  );
  const pools = [...new Set(moved.map(({ key }) => key.poolId))];
  await sql`delete from feed_counts where n = 0 and pool_id = any(${pools}::uuid[])`.execute(tx);
}
