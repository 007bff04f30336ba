-- Search (terms and full text), consistent paging under asOf, and deduplication.

-- Search -----------------------------------------------------------------------------------------------------------------------------

create table item_terms (
  organization_id uuid not null,
  item_id uuid not null,
  pool_id uuid not null,
  kind text not null check (kind in ('indicator', 'cve', 'technique', 'actor', 'malware', 'tool', 'product', 'alias', 'text')),
  value text not null,
  identifying boolean not null default false,
  standing text check (standing in ('false_positive', 'revoked')),
  ends_at timestamptz,
  entity text,
  seen_at timestamptz
);
comment on table item_terms is 'Values that items are found and compared by, one row per item, kind and value. The writer keeps the rows distinct: a unique index would be the most expensive part of a pull.';
comment on column item_terms.kind is 'Kind of the value. alias: another id of the same OSV record. text: a band of the MinHash sketch, shared by similar texts.';
comment on column item_terms.value is 'Normalized value. The SHA-256 of values longer than 500 characters.';
comment on column item_terms.identifying is 'True for indicators that can distinguish one story from another, such as a hash.';
comment on column item_terms.standing is 'Status of an indicator according to the item. Null: active until ends_at. revoked for an entity of a retracted item. Stored here so that a lookup can weigh all items without reading their documents.';
comment on column item_terms.ends_at is 'When the indicator expires. Null if it does not expire.';
comment on column item_terms.entity is 'Printed form of the canonical name of an actor, malware or tool, and of a CVE. Null for aliases and other kinds.';
comment on column item_terms.seen_at is 'When the item was published, or else added. Set with entity.';
create index on item_terms (kind, value, pool_id, item_id);
create index on item_terms (item_id, kind);
-- In byte order, so that the beginning of a name is a range.
create index item_terms_entities on item_terms (kind, value collate "C", pool_id, seen_at, item_id) include (entity) where entity is not null and standing is null;
-- The URLs of a host are a range in byte order.
create index item_terms_urls on item_terms (value collate "C", pool_id, item_id) where kind = 'indicator' and value like '%://%';
select tocsin_protect_items('item_terms');

-- Separate from items, so that a search reads few pages.
create table item_search (
  organization_id uuid not null,
  item_id uuid primary key,
  pool_id uuid not null,
  added_to_feed_at timestamptz not null,
  words tsvector not null
);
comment on table item_search is 'Words of the items, for full-text search.';
comment on column item_search.added_to_feed_at is 'Like items.added_to_feed_at. A search reads only the newest matches that it needs.';
create index item_search_words on item_search using gin (words);
create index item_search_added on item_search (added_to_feed_at);
-- Samples by a hash of the id, in which the matches of a frequent word are counted.
create index item_search_sample_256 on item_search using gin (words) where uuid_hash(item_id) & 255 = 0;
create index item_search_sample_16 on item_search using gin (words) where uuid_hash(item_id) & 15 = 0;
select tocsin_protect_items('item_search');

-- English stems, so that "stealers" finds "stealer". Without stop words, which would change phrases and exclusions.
create text search dictionary tocsin_stem (template = snowball, language = english);
create text search configuration tocsin_text (copy = simple);
alter text search configuration tocsin_text alter mapping for asciiword, word, asciihword, hword, hword_asciipart, hword_part with tocsin_stem;

create function tocsin_words(title text, head text, body text) returns tsvector language plpgsql immutable parallel safe as $$
declare
  name tsvector := setweight(to_tsvector('tocsin_text', left(title, 2000)), 'A');
begin
  return name || setweight(to_tsvector('tocsin_text', left(head, 100000)), 'B') || to_tsvector('tocsin_text', left(body, 150000));
exception when program_limit_exceeded then
  return name || setweight(to_tsvector('tocsin_text', left(head, 20000)), 'B') || to_tsvector('tocsin_text', left(body, 30000));
end $$;
comment on function tocsin_words(text, text, text) is
  'Returns the words of an item: title, summary with indicators, and text, in descending weight. Long text is truncated, further if the words exceed the size limit of a tsvector.';

create function tocsin_search_score(words tsvector, query tsquery, at timestamptz) returns float8 language sql stable parallel safe as $$
  select ln(greatest(ts_rank(words, query, 1), 1e-6)) + date_part('epoch', at) / (180 * 24 * 3600)
$$;
comment on function tocsin_search_score(tsvector, tsquery, timestamptz) is
  'Returns the place of an item in a search by relevance and freshness: 180 days count as much as a rank e times as high. Does not depend on the current time, so that pages stay consistent.';

create function tocsin_text_query(text text) returns tsquery language sql immutable parallel safe as $$
  select case when text ~ '"' or words::text ~ '[<!]' or numnode(words) = 0 then stems else (
    select string_agg(case
      when part !~ '^''[[:alpha:]][[:alnum:]]*''$' then part
      when length(word) < 4 then quote_literal(stem)
      when stem = word then part || ':*'
      else '(' || quote_literal(stem) || '|' || part || ':*)' end, '' order by place)::tsquery
    from regexp_matches(words::text, '''(?:[^'']|'''')*''|[^'']+', 'g') with ordinality parts (part_list, place)
      cross join lateral (select part_list[1] as part, trim(both '''' from part_list[1]) as word) parsed
      cross join lateral (select coalesce((ts_lexize('tocsin_stem', word))[1], word) as stem) stemmed) end
  from (select websearch_to_tsquery('tocsin_text', text) as stems, websearch_to_tsquery('simple', text) as words) query
$$;
comment on function tocsin_text_query(text) is
  'Returns the full-text query of a search text. Without quotation marks, phrases (<) and exclusions (!), a word of at least four letters and digits also matches longer words that begin with it.';

-- Row-level security prevents an operator that is not leakproof, such as @@, from using an index. These functions therefore search as
-- tocsin_system within the given pools; the policies of items apply when the caller reads the items.
-- The ids are one array because returning many rows takes twice as long.
-- Each call is planned with its arguments: the index of the times helps only if few items are that new.
create function tocsin_find_words(pools uuid[], query tsquery, since timestamptz) returns uuid[] language plpgsql stable
  set role to tocsin_system set plan_cache_mode to force_custom_plan as $$
begin
  return (select coalesce(array_agg(item_id), '{}') from item_search
    where pool_id = any (pools) and words @@ query and added_to_feed_at >= since);
end $$;
comment on function tocsin_find_words(uuid[], tsquery, timestamptz) is
  'Returns the ids of the items in the given pools that match a full-text query and were added at a time or later.';

-- A constant divisor lets the planner use the index of the sample.
create function tocsin_sample_words(pools uuid[], query tsquery, one_in int) returns uuid[] language plpgsql stable set role to tocsin_system as $$
begin
  if one_in = 256 then
    return (select coalesce(array_agg(item_id), '{}') from item_search
      where pool_id = any (pools) and words @@ query and uuid_hash(item_id) & 255 = 0);
  elsif one_in = 16 then
    return (select coalesce(array_agg(item_id), '{}') from item_search
      where pool_id = any (pools) and words @@ query and uuid_hash(item_id) & 15 = 0);
  end if;
  return (select coalesce(array_agg(item_id), '{}') from item_search
    where pool_id = any (pools) and words @@ query and uuid_hash(item_id) & (one_in - 1) = 0);
end $$;
comment on function tocsin_sample_words(uuid[], tsquery, int) is
  'Like tocsin_find_words, but only in a sample of one in so many items, a power of two. The samples of 256 and 16 have an index.';

-- Paging under asOf ------------------------------------------------------------------------------------------------------------------

create table item_states (
  organization_id uuid not null,
  item_id uuid not null,
  pool_id uuid not null,
  seq_from bigint not null,
  seq_until bigint not null,
  severity text not null,
  status text not null,
  publisher text not null,
  source_name text not null,
  platforms text[] not null,
  duplicate_of uuid,
  title text not null,
  publish_time timestamptz,
  doc text not null,
  next_expiry_at timestamptz,
  added_to_feed_at timestamptz not null,
  last_updated timestamptz not null,
  terms text[] not null,
  words tsvector,
  kept_at timestamptz not null default clock_timestamp(),
  primary key (item_id, seq_from)
);
comment on table item_states is 'Previous states of items that changed in the last few hours, so that pages under asOf stay consistent.';
comment on column item_states.seq_from is 'Sequence number of the pool from which the state was current.';
comment on column item_states.seq_until is 'Sequence number of the pool that ended the state (exclusive).';
comment on column item_states.terms is 'Terms of the item, each as kind and value separated by a space.';
comment on column item_states.words is 'Words of the item for full-text search. Null if the content was withdrawn.';
comment on column item_states.kept_at is 'When the state was stored. Deleted after a few hours.';
create index on item_states (pool_id, seq_until);
create index on item_states (kept_at);
select tocsin_protect_items('item_states');

-- Every change of an item increases its seq. Several changes in one transaction count as one.
create function tocsin_keep_states() returns trigger language plpgsql as $$
begin
  update item_versions v set doc = o.doc from old_items o join new_items n on n.id = o.id
  where n.version > o.version and v.item_id = o.id and v.version = o.version and v.doc is null;
  insert into item_states (organization_id, item_id, pool_id, seq_from, seq_until, severity, status, publisher, source_name, platforms,
    duplicate_of, title, publish_time, doc, next_expiry_at, added_to_feed_at, last_updated, terms, words)
  select o.organization_id, o.id, o.pool_id, o.seq, n.seq, o.severity, o.status, o.publisher, o.source_name, o.platforms,
    o.duplicate_of, o.title, o.publish_time, o.doc, o.next_expiry_at, o.added_to_feed_at, o.last_updated,
    array(select t.kind || ' ' || t.value from item_terms t where t.item_id = o.id),
    (select s.words from item_search s where s.item_id = o.id)
  from old_items o join new_items n on n.id = o.id
  where n.seq > o.seq;
  return null;
end $$;
comment on function tocsin_keep_states() is 'Copies changed items to item_states, and the documents of previous versions to item_versions.';
create trigger keep_states after update on items referencing old table as old_items new table as new_items
  for each statement execute function tocsin_keep_states();

create table feed_key (
  one boolean primary key default true check (one),
  key bytea not null
);
comment on table feed_key is 'Key that encrypts asOf tokens. All processes of an installation share it.';
comment on column feed_key.one is 'Always true: the table has exactly one row.';
alter table feed_key enable row level security;
create policy read on feed_key for select to tocsin_app, tocsin_system using (true);
grant select on feed_key to tocsin_app, tocsin_system;
insert into feed_key (key) values (sha256((gen_random_uuid()::text || gen_random_uuid()::text || gen_random_uuid()::text)::bytea));

-- Deduplication ----------------------------------------------------------------------------------------------------------------------

create table item_links (
  pool_id uuid not null,
  a uuid not null,
  b uuid not null,
  weight real not null,
  primary key (a, b, pool_id)
);
comment on table item_links is 'Pairs of items that the rules consider the same story, as seen by the audience of the pool.';
comment on column item_links.a is 'The smaller of the two ids.';
create index on item_links (b);
select tocsin_protect_items('item_links');

create table item_decisions (
  pool_id uuid not null references feed_pools (id),
  a uuid not null references items (id),
  b uuid not null references items (id),
  verdict text not null check (verdict in ('together', 'apart')),
  decided_at timestamptz not null,
  decided_by text,
  primary key (pool_id, a, b)
);
comment on table item_decisions is 'Pairs of items that a person merged or split. They take precedence over the rules.';
comment on column item_decisions.a is 'The smaller of the two ids.';
comment on column item_decisions.decided_by is 'API key that made the decision.';
create index on item_decisions (pool_id, b);
select tocsin_protect_items('item_decisions');

create table item_arrivals (
  item_id uuid primary key,
  pool_id uuid not null
);
comment on table item_arrivals is 'Queue of items to compare with the items of other pools after their own transaction has committed.';
create index on item_arrivals (pool_id);
select tocsin_protect_items('item_arrivals');

-- Predictions --------------------------------------------------------------------------------------------------------------------------

create table cve_predictions (
  pool_id uuid not null,
  cve text collate "C" not null,
  probability double precision not null check (probability between 0 and 1),
  percentile double precision not null check (percentile between 0 and 1),
  scored_at timestamptz not null,
  primary key (pool_id, cve)
);
comment on table cve_predictions is 'How probable the exploitation of a CVE is within 30 days (EPSS), as the sources of a pool state it.';
comment on column cve_predictions.percentile is 'Share of CVEs with the same or a lower probability.';
select tocsin_protect_items('cve_predictions');
