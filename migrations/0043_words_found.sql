-- What a search finds comes as one array: row by row, many take twice as long.
drop function tocsin_find_words(uuid[], tsquery);
create function tocsin_find_words(pools uuid[], query tsquery) returns uuid[] language sql stable set role to tocsin_system as
$$ select coalesce(array_agg(item_id), '{}') from item_search where pool_id = any (pools) and words @@ query $$;

-- How many these are, where they are too many to be looked up one by one.
create function tocsin_count_words(pools uuid[], query tsquery) returns bigint language sql stable set role to tocsin_system as
$$ select count(*) from item_search where pool_id = any (pools) and words @@ query $$;
