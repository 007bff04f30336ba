-- Few items are anything but active: they are found without passing those that are.
create index items_not_active on items (pool_id, status, added_to_feed_at desc, id desc)
  include (seq, severity, publisher, source_name, platforms, duplicate_of) where status <> 'active';

-- With the id, so that duplicates are read from the index alone also where an organization says something of some.
drop index items_members;
create index items_members on items (duplicate_of)
  include (id, pool_id, seq, severity, status, publisher, source_name, platforms) where duplicate_of is not null;
