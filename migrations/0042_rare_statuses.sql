-- Few items are anything but active: they are found without passing those that are.
create index items_not_active on items (pool_id, status, added_to_feed_at desc, id desc)
  include (seq, severity, publisher, source_name, platforms, duplicate_of) where status <> 'active';
