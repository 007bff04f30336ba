-- The samples of searches in a table of their own. Its rows are so small that they stay in memory, while the rows of the same items in item_search
-- are far apart, so that the first search of a word read one page of the disk for each.
create table item_search_sample (
  organization_id uuid not null,
  item_id uuid primary key,
  pool_id uuid not null,
  words tsvector not null
) with (toast_tuple_target = 128);
comment on table item_search_sample is 'Copy of one in 16 rows of item_search, by a hash of the id, in which the matches of a frequent word are counted.';
comment on column item_search_sample.words is 'Stored out of line: a search finds the rows by an index and hardly ever compares them.';
select tocsin_protect_items('item_search_sample');

set local role tocsin_system;
insert into item_search_sample (organization_id, item_id, pool_id, words)
select organization_id, item_id, pool_id, words from item_search where uuid_hash(item_id) & 15 = 0;
reset role;

drop index item_search_sample_256;
drop index item_search_sample_16;
create index item_search_sample_1024 on item_search_sample using gin (words) where uuid_hash(item_id) & 1023 = 0;
create index item_search_sample_256 on item_search_sample using gin (words) where uuid_hash(item_id) & 255 = 0;
create index item_search_sample_64 on item_search_sample using gin (words) where uuid_hash(item_id) & 63 = 0;
create index item_search_sample_16 on item_search_sample using gin (words);

create function tocsin_keep_sample() returns trigger language plpgsql as $$
begin
  insert into item_search_sample (organization_id, item_id, pool_id, words) values (new.organization_id, new.item_id, new.pool_id, new.words)
  on conflict (item_id) do update set words = excluded.words;
  return null;
end $$;
comment on function tocsin_keep_sample() is 'Copies a row of item_search to item_search_sample.';
create trigger keep_sample after insert or update of words on item_search for each row when (uuid_hash(new.item_id) & 15 = 0)
  execute function tocsin_keep_sample();

-- A sample of any size from 16 on is counted by the index of the next larger one. A constant divisor lets the planner use the index of the sample.
-- Of a search that only excludes words, such as -phishing, the planner expects so many matches that it would read the words of all rows.
create or replace function tocsin_sample_words(pools uuid[], query tsquery, one_in int) returns uuid[] language plpgsql stable
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
