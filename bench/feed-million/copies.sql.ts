import { publicPoolId } from '../../src/feed/items/writing/feed-pools.store.ts';

const iso = (at: string): string => `to_char(${at} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** Replaces the timestamp of a UUIDv7 with another time. */
const idAt = (id: string, at: string): string =>
  `overlay(overlay(${id}::text placing substr(hex, 1, 8) from 1 for 8) placing substr(hex, 9, 4) from 10 for 4)::uuid`.replaceAll(
    'hex',
    `lpad(to_hex((extract(epoch from ${at}) * 1000)::bigint), 12, '0')`,
  );

/**
 * Saves the oldest items of the public pool as seeds in the schema `bench`, with the order of the times at which they were written: one in
 * `existing`, which is how many copies of each seed the pool has, the seed included.
 */
export const saveSeedsSql = (existing: number): string => `
  create schema bench;
  create unlogged table bench.items as select * from items where pool_id = '${publicPoolId}' order by id
    limit (select sum(n) / ${existing} from feed_counts where pool_id = '${publicPoolId}');
  create unlogged table bench.versions as select v.* from item_versions v where v.item_id in (select id from bench.items);
  create unlogged table bench.terms as select t.* from item_terms t where t.item_id in (select id from bench.items);
  create unlogged table bench.words as select s.* from item_search s where s.item_id in (select id from bench.items);
  create unlogged table bench.moments as
    select at, row_number() over (order by at) as place from (select created_at from bench.items union select last_updated from bench.items) m (at);
  create unlogged table bench.seeds as
    select i.id, coalesce(i.duplicate_of, i.id) as root, substring(i.record_id from '[1-9][0-9]{7}$') as number, i.seq,
      i.created_at, i.last_updated, ${iso('i.created_at')} as created_iso, ${iso('i.last_updated')} as updated_iso,
      created.place as created_place, updated.place as updated_place, rooted.place as root_place
    from bench.items i join bench.items root on root.id = coalesce(i.duplicate_of, i.id) join bench.moments created on created.at = i.created_at
      join bench.moments updated on updated.at = i.last_updated join bench.moments rooted on rooted.at = root.created_at;
  create unlogged table bench.pool as select max(seq) as seq, max(added_to_feed_at) as last_added_at from bench.items`;

/** Inserts the copies `from` to `to` (inclusive) in the order in which pulls would have stored them. Each copy adds `numbers` to the seed's number. */
export const insertCopiesSql = (from: number, to: number, numbers: number): string => `
  create temp table copies on commit drop as
    select seed, ${idAt('seed', 'created_at')} as id, seed_root, ${idAt('seed_root', 'root_at')} as root, number, new_number, seq, created_at,
      last_updated, seed_updated, created_iso, updated_iso, ${iso('created_at')} as new_created_iso, ${iso('last_updated')} as new_updated_iso
    from (
      select k, s.id as seed, s.root as seed_root, s.number, (s.number::int + k * ${numbers})::text as new_number, s.seq + k * pool.seq as seq,
        pool.last_added_at + (k * pool.seq + created_place) * step as created_at, pool.last_added_at + (k * pool.seq + updated_place) * step as last_updated,
        pool.last_added_at + (k * pool.seq + root_place) * step as root_at, s.last_updated as seed_updated, s.created_iso, s.updated_iso
      from generate_series(${from}, ${to}) k cross join bench.seeds s cross join bench.pool cross join (select interval '1 ms' as step) clock
    ) placed order by k, seed;
  analyze copies;
  insert into items (organization_id, id, pool_id, source_id, record_id, generation, canonical_key, duplicate_of, version, content_hash,
    record_hash, record_modified_at, related, severity, severity_rule, status, publisher, source_name, platforms, title, publish_time, doc,
    own_doc, next_expiry_at, missing_pulls, seq, added_to_feed_at, created_at, last_updated, sketch, identifying, reading)
  select i.organization_id, c.id, i.pool_id, i.source_id, ${renamed('i.record_id')}, i.generation, ${renamed('i.canonical_key')},
    case when i.duplicate_of is not null then c.root end, i.version, i.content_hash, i.record_hash, i.record_modified_at, i.related,
    i.severity, i.severity_rule, i.status, i.publisher, i.source_name, i.platforms, ${renamed('i.title')}, i.publish_time,
    ${rewritten('i.doc')}, ${rewritten('i.own_doc')}, i.next_expiry_at, i.missing_pulls, c.seq, c.created_at, c.created_at,
    c.last_updated, i.sketch, i.identifying, i.reading
  from copies c join bench.items i on i.id = c.seed;
  insert into item_versions (organization_id, item_id, pool_id, version, cause, changed, stored_text, doc, at, note, objects)
  select v.organization_id, c.id, v.pool_id, v.version, v.cause, v.changed, ${renamed('v.stored_text')}, ${rewritten('v.doc')},
    case when v.at = c.seed_updated then c.last_updated else c.created_at end, v.note, ${renamed('v.objects')}
  from copies c join bench.versions v on v.item_id = c.seed;
  insert into item_terms (organization_id, item_id, pool_id, kind, value, identifying, standing, ends_at, entity, seen_at)
  select t.organization_id, c.id, t.pool_id, t.kind, ${renamed('t.value')}, t.identifying, t.standing, t.ends_at, ${renamed('t.entity')},
    t.seen_at
  from copies c join bench.terms t on t.item_id = c.seed;
  insert into item_search (organization_id, item_id, pool_id, added_to_feed_at, words)
  select s.organization_id, c.id, s.pool_id, c.created_at, ${renamed('s.words::text')}::tsvector
  from copies c join bench.words s on s.item_id = c.seed;
  insert into item_search_sample (organization_id, item_id, pool_id, words)
  select s.organization_id, s.item_id, s.pool_id, s.words from copies c join item_search s on s.item_id = c.id where uuid_hash(c.id) & 15 = 0`;

/** Updates the public pool and the item counts as if the copies had been pulled. */
export const updateCountsSql = ({ existing, copies }: { existing: number; copies: number }): string => `
  update feed_pools p set seq = greatest(p.seq, b.seq * ${copies}), last_added_at = b.last_added_at + b.seq * ${copies} * interval '1 ms'
  from bench.pool b where p.id = '${publicPoolId}';
  update feed_counts set n = n / ${existing} * ${copies}, roots = roots / ${existing} * ${copies} where pool_id = '${publicPoolId}'`;

function renamed(column: string): string {
  return `replace(${column}, c.number, c.new_number)`;
}

/** Replaces the number, the item ID, the root ID, and the times in a document. */
function rewritten(column: string): string {
  const changes = [
    ['c.seed::text', 'c.id::text'],
    ['c.seed_root::text', 'c.root::text'],
    ['c.created_iso', 'c.new_created_iso'],
    ['c.updated_iso', 'c.new_updated_iso'],
  ];
  return changes.reduce((text, [before, after]) => `replace(${text}, ${before}, ${after})`, renamed(column));
}
