-- Lists with updatedSince that contain most of the feed are index-only scans, too, which read no documents.
drop index items_listed;
create index items_listed on items (pool_id, added_to_feed_at desc, id desc)
  include (seq, severity, status, publisher, source_name, platforms, duplicate_of, last_updated);
