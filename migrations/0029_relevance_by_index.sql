-- The list of relevant items is an index-only scan, which reads no item besides those of the page.
alter table feed_relevance add column pool_id uuid;
comment on column feed_relevance.pool_id is 'Pool of the item.';

set local role tocsin_system;
update feed_relevance r set pool_id = i.pool_id from items i where i.id = r.item_id;
reset role;
alter table feed_relevance alter column pool_id set not null;

drop index feed_relevance_organization_id_version_added_to_feed_at_ite_idx;
-- Ascending, because scoring inserts in the order of the times, and pages that are filled from the left stay half empty.
create index feed_relevance_listed on feed_relevance (organization_id, version, added_to_feed_at, item_id)
  include (pool_id, seq_from, seq_until);
