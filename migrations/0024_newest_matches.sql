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
