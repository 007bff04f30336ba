-- Words of an item for full-text search, apart from the items so that looking through them touches little.
create table item_search (
  organization_id uuid not null references organizations (id),
  item_id uuid primary key references items (id),
  pool_id uuid not null references feed_pools (id),
  words tsvector not null
);
create index item_search_words on item_search using gin (words);

-- `body` may be long; what would not fit into one tsvector is looked for in its beginning.
create function tocsin_words(head text, body text) returns tsvector language plpgsql immutable parallel safe as $$
begin
  return to_tsvector('simple', left(head, 100000) || E'\n' || left(body, 150000));
exception when program_limit_exceeded then
  return to_tsvector('simple', left(head, 20000) || E'\n' || left(body, 30000));
end $$;

-- Row-level security keeps a condition that is not leakproof, such as @@, away from an index. So the words are looked up as the system,
-- in the pools given, and what is found then meets the policies of the items.
create function tocsin_find_words(pools uuid[], query tsquery) returns setof uuid language sql stable rows 1000 set role to tocsin_system as
$$ select item_id from item_search where pool_id = any (pools) and words @@ query $$;

-- What an item was before each change of the last hours, so that a reader who pages under `asOf` goes on seeing it.
create table item_states (
  organization_id uuid not null references organizations (id),
  item_id uuid not null references items (id),
  pool_id uuid not null references feed_pools (id),
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
create index on item_states (pool_id, seq_until);
create index on item_states (kept_at);

-- Whoever changes an item moves its seq; several changes within one commit are one.
create function tocsin_keep_states() returns trigger language plpgsql as $$
begin
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
create trigger keep_states after update on items referencing old table as old_items new table as new_items
  for each statement execute function tocsin_keep_states();

select tocsin_protect_items('item_search');
select tocsin_protect_items('item_states');

-- Lists are read from indexes alone: the columns that narrow them stand there too.
drop index items_pool_id_added_to_feed_at_id_severity_status_publisher_idx;
create index items_listed on items (pool_id, added_to_feed_at desc, id desc)
  include (seq, severity, status, publisher, source_name, platforms, duplicate_of);
create index items_changed on items (pool_id, seq);
create index items_updated on items (pool_id, last_updated);
create index items_members on items (duplicate_of) include (pool_id, seq, severity, status, publisher, source_name, platforms)
  where duplicate_of is not null;

-- The key that `asOf` strings are sealed with: the same for every process of an installation.
create table feed_key (
  one boolean primary key default true check (one),
  key bytea not null
);
insert into feed_key (key) values (sha256((gen_random_uuid()::text || gen_random_uuid()::text || gen_random_uuid()::text)::bytea));
alter table feed_key enable row level security;
alter table feed_key force row level security;
create policy read on feed_key for select to tocsin_app, tocsin_system using (true);
grant select on feed_key to tocsin_app, tocsin_system;

insert into item_search (organization_id, item_id, pool_id, words)
select i.organization_id, i.id, i.pool_id, tocsin_words(i.title || E'\n' || coalesce(i.doc::jsonb ->> 'summary', ''), v.stored_text)
from items i join item_versions v on v.item_id = i.id and v.version = i.version;
