-- An item that has not changed since it was added is found by the time at which it was added, so it needs no entry here. Lists with updatedSince
-- read no item, only this index.
drop index items_updated;
create index items_updated on items (pool_id, last_updated, added_to_feed_at, id)
  include (seq, severity, status, publisher, source_name, platforms, duplicate_of) where last_updated > added_to_feed_at;
