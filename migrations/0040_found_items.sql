-- What a search finds is looked up by id, many at a time: with these columns no row of `items` is touched before the page is known.
create index items_found on items (id) include (pool_id, seq, added_to_feed_at, severity, status, publisher, source_name, platforms, duplicate_of);
-- `items_in_change_order` begins with the same columns.
drop index items_changed;
