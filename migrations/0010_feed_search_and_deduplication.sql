-- Search (terms and full text), consistent paging under asOf, and deduplication.

-- Search -----------------------------------------------------------------------------------------------------------------------------

create table item_terms (
  organization_id uuid not null,
  item_id uuid not null,
  pool_id uuid not null,
  kind text not null,
  value text not null,
  identifying boolean not null default false,
  standing text check (standing in ('false_positive', 'harmless_here', 'revoked')),
  ends_at timestamptz,
  entity text,
  seen_at timestamptz,
  address inet
);
comment on table item_terms is 'Values that items are found and compared by, one row per item, kind and value. The writer keeps the rows distinct: a unique index would be the most expensive part of a pull.';
comment on column item_terms.kind is 'Kind of the value. rule: a language of rules that its text prints. alias: another id of the same OSV record. text: a band of the MinHash sketch, shared by similar texts.';
comment on column item_terms.value is 'Normalized value. The SHA-256 of values longer than 500 characters.';
comment on column item_terms.identifying is 'True for indicators that can distinguish one story from another, such as a hash.';
comment on column item_terms.standing is 'Status of an indicator according to the item. Null: active until ends_at. harmless_here is a false positive in this item only. revoked for an entity of a retracted item. Stored here so that a lookup can weigh all items without reading their documents.';
comment on column item_terms.ends_at is 'When the indicator expires. Null if it does not expire.';
comment on column item_terms.entity is 'Printed form of the canonical name of an actor, malware or tool, and of a CVE. Null for aliases and other kinds.';
comment on column item_terms.seen_at is 'When the item was published, or else added. Set with entity.';
comment on column item_terms.address is 'Address or network of an indicator. The writer sets it, because not every text of its form is an address. Null for all other values.';
create index on item_terms (kind, value, pool_id, item_id);
create index on item_terms (item_id, kind);
-- A value of very many items is a false positive if one of them says so.
create index item_terms_false_positives on item_terms (value, pool_id) where kind = 'indicator' and standing = 'false_positive';
-- In byte order, so that the beginning of a name is a range.
create index item_terms_entities on item_terms (kind, value collate "C", pool_id, seen_at, item_id) include (entity) where entity is not null and standing is null;
-- The URLs of a host are a range in byte order.
create index item_terms_urls on item_terms (value collate "C", pool_id, item_id) where kind = 'indicator' and value like '%://%';
-- Addresses and networks inside of a network are a range.
create index item_terms_addresses on item_terms (pool_id, address) where address is not null;
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
select tocsin_protect_items('item_search');

-- Separate from item_search, whose rows are large and far apart: to count a sample there would read a page of the disk for each row.
create table item_search_sample (
  organization_id uuid not null,
  item_id uuid primary key,
  pool_id uuid not null,
  words tsvector not null
) with (toast_tuple_target = 128);
comment on table item_search_sample is 'Copy of one in 16 rows of item_search, by a hash of the id, in which the matches of a frequent word are counted.';
comment on column item_search_sample.words is 'Stored out of line: a search finds the rows by an index and hardly ever compares them.';
create index item_search_sample_1024 on item_search_sample using gin (words) where uuid_hash(item_id) & 1023 = 0;
create index item_search_sample_256 on item_search_sample using gin (words) where uuid_hash(item_id) & 255 = 0;
create index item_search_sample_64 on item_search_sample using gin (words) where uuid_hash(item_id) & 63 = 0;
create index item_search_sample_16 on item_search_sample using gin (words);
select tocsin_protect_items('item_search_sample');

-- Runs once per statement, because an insert for each row would be a fifth of the time in which new items are written.
create function tocsin_keep_sample() returns trigger language plpgsql as $$
begin
  insert into item_search_sample as known (organization_id, item_id, pool_id, words)
  select organization_id, item_id, pool_id, words from written where uuid_hash(item_id) & 15 = 0
  on conflict (item_id) do update set words = excluded.words where known.words is distinct from excluded.words;
  return null;
end $$;
comment on function tocsin_keep_sample() is 'Copies the sample among the rows of item_search that a statement wrote to item_search_sample.';
create trigger keep_sample_of_new after insert on item_search referencing new table as written for each statement execute function tocsin_keep_sample();
create trigger keep_sample_of_changed after update on item_search referencing new table as written for each statement execute function tocsin_keep_sample();

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

-- The cube root lets a title of years ago rank before a recent text that mentions a word in passing. The weights let many mentions in a long text
-- count less.
create function tocsin_search_score(words tsvector, query tsquery, at timestamptz, now timestamptz) returns float8 language sql stable parallel safe as $$
  select ln(greatest(ts_rank('{0.03, 0.1, 0.4, 1}', words, query, 1) + case when query::text like '% & %'
    then ts_rank('{0.03, 0.1, 0.4, 1}', words, replace(query::text, ' & ', ' | ')::tsquery, 1) else 0 end, 1e-6))
    - ln(1 + greatest(extract(epoch from now - at), 0)::float8 / (30 * 24 * 3600)) / 3
$$;
comment on function tocsin_search_score(tsvector, tsquery, timestamptz, timestamptz) is
  'Returns the score of an item in a search by relevance and freshness: its rank divided by the cube root of its age, 30 days older than it is. The rank of all words counts how near they are, that of each word where it is: a title with one of them counts even if the others are in the text.';

-- Runs of Chinese, Japanese, Korean, Thai and similar text are indexed as pairs of characters, so that every part of them is found.
create function tocsin_text_query(text text) returns tsquery language sql immutable parallel safe as $$
  select case when regexp_replace(text, '"[^\x01-\x1f!-\x7f]+"', '', 'g') ~ '"' or words ~ '!' or numnode(words::tsquery) not between 1 and 15 then stems::tsquery else (
    select string_agg(case
      when part !~ '^''[[:alnum:]]*[[:alpha:]][[:alnum:]]*''$' then part
      when previous ~ '<' or next ~ '<' then case when word ~ '^[[:alpha:]]+$' then quote_literal(stem) else part end
      when length(word) = 1 and word ~ '[^\x01-\x7f]' then part || ':*'
      when length(word) < 4 then case when word ~ '^[[:alpha:]]+$' then quote_literal(stem) else part end
      when stem = word then part || ':*'
      else '(' || quote_literal(stem) || '|' || part || ':*)' end, '' order by place)::tsquery
    from (
        select part_list[1] as part, place, lag(part_list[1]) over (order by place) as previous, lead(part_list[1]) over (order by place) as next
        from regexp_matches(
          regexp_replace(words, '(?<!<-> )''(apt|dev|fin|storm|ta|temp|uac|uat|unc)(?:'' (?:&|<->) ''-?)?(\d+)''(?! <->)',
            '(''\1\2'' | ''\1'' <-> ''\2'' | ''\1'' <-> ''-\2'')', 'g'),
          '''(?:[^'']|'''')*''|[^'']+', 'g') with ordinality parts (part_list, place)) parts
      cross join lateral (select trim(both '''' from part) as word) parsed
      cross join lateral (select coalesce((ts_lexize('tocsin_stem', word))[1], word) as stem) stemmed) end
  from (
    -- The parts of a compound are indexed one after another behind it, so they alone match it in all its spellings.
    select regexp_replace(websearch_to_tsquery('tocsin_text', text)::text, compound, '', 'g') as stems,
      regexp_replace(websearch_to_tsquery('simple', text)::text, compound, '', 'g') as words
    from (select '(?<!<-> )''[[:alpha:]]+(?:-[[:alpha:]]+)+'' <-> ' as compound) patterns) query
$$;
comment on function tocsin_text_query(text) is
  'Returns the full-text query of a search text. Without quotation marks and exclusions (!), and up to eight words, a word of at least four letters and digits also matches longer words that begin with it, unless it is part of a compound (<). A compound such as zero-day also matches its words without a hyphen, and APT28, APT 28 and APT-28 match each other. Quotation marks around pairs of characters of a script without spaces do not count, and a single character of it matches the pairs that begin with it.';

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

-- A search of frequent words reads the newest items in their order. The index of the words would collect every item that contains one of the
-- words or begins with it, whose number grows with the feed.
create function tocsin_newest_words(pools uuid[], query tsquery, since timestamptz, most int) returns uuid[] language plpgsql stable
  set role to tocsin_system set plan_cache_mode to force_custom_plan set enable_bitmapscan to off set enable_seqscan to off as $$
begin
  return array(select item_id from item_search
    where pool_id = any (pools) and words @@ query and added_to_feed_at >= since
    order by added_to_feed_at desc, item_id desc limit most);
end $$;
comment on function tocsin_newest_words(uuid[], tsquery, timestamptz, int) is
  'Like tocsin_find_words, but returns only the newest matches, newest first. Reads the items that were added since, until there are enough.';

-- The index of the next larger sample serves every divisor from 16 on. A constant divisor lets the planner use that index. Sequential scans are
-- off, because the planner expects so many matches of a search that only excludes words, such as -phishing, that it would read all rows.
create function tocsin_sample_words(pools uuid[], query tsquery, one_in int) returns uuid[] language plpgsql stable
  set role to tocsin_system set enable_seqscan to off as $$
begin
  if one_in >= 1024 then
    return (select coalesce(array_agg(item_id), '{}') from item_search_sample
      where pool_id = any (pools) and words @@ query and uuid_hash(item_id) & 1023 = 0 and uuid_hash(item_id) & (one_in - 1) = 0);
  elsif one_in >= 256 then
    return (select coalesce(array_agg(item_id), '{}') from item_search_sample
      where pool_id = any (pools) and words @@ query and uuid_hash(item_id) & 255 = 0 and uuid_hash(item_id) & (one_in - 1) = 0);
  elsif one_in >= 64 then
    return (select coalesce(array_agg(item_id), '{}') from item_search_sample
      where pool_id = any (pools) and words @@ query and uuid_hash(item_id) & 63 = 0 and uuid_hash(item_id) & (one_in - 1) = 0);
  elsif one_in >= 16 then
    return (select coalesce(array_agg(item_id), '{}') from item_search_sample
      where pool_id = any (pools) and words @@ query and uuid_hash(item_id) & (one_in - 1) = 0);
  end if;
  return (select coalesce(array_agg(item_id), '{}') from item_search
    where pool_id = any (pools) and words @@ query and uuid_hash(item_id) & (one_in - 1) = 0);
end $$;
comment on function tocsin_sample_words(uuid[], tsquery, int) is
  'Like tocsin_find_words, but only in a sample of one in so many items, a power of two. The samples of 1024, 256, 64 and 16 have an index, which serves the smaller ones as well.';

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
-- The statements are planned for the number of rows at hand, and find previous versions by index. During the first pulls the planner does not know
-- how many rows the tables have, and it expects one row from a join of old and new rows: it would read all versions, or compare every old row with
-- every new one.
create function tocsin_keep_states() returns trigger language plpgsql set enable_seqscan = off as $$
declare
  changed uuid[];
begin
  execute 'select array(select n.id from old_items o join new_items n on n.id = o.id where n.version > o.version)' into changed;
  execute 'update item_versions v set doc = o.doc from old_items o
    where v.item_id = any($1) and o.id = v.item_id and o.version = v.version and v.doc is null' using changed;
  execute $states$
    insert into item_states (organization_id, item_id, pool_id, seq_from, seq_until, severity, status, publisher, source_name, platforms,
      duplicate_of, title, publish_time, doc, next_expiry_at, added_to_feed_at, last_updated, terms, words)
    select o.organization_id, o.id, o.pool_id, o.seq, n.seq, o.severity, o.status, o.publisher, o.source_name, o.platforms,
      o.duplicate_of, o.title, o.publish_time, o.doc, o.next_expiry_at, o.added_to_feed_at, o.last_updated,
      array(select t.kind || ' ' || t.value from item_terms t where t.item_id = o.id),
      (select s.words from item_search s where s.item_id = o.id)
    from old_items o join new_items n on n.id = o.id
    where n.seq > o.seq $states$;
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

-- One index by which items are claimed pool by pool, and deleted.
create table item_arrivals (
  pool_id uuid not null,
  item_id uuid not null,
  primary key (pool_id, item_id)
);
comment on table item_arrivals is 'Queue of items to compare with the items of other pools after their own transaction has committed.';
select tocsin_protect_items('item_arrivals');

-- Predictions ------------------------------------------------------------------------------------------------------------------------

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
