-- A sample of any size from 16 on, by the index of the next larger one.
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
