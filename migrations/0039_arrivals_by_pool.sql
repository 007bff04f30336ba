-- One index by which items are claimed pool by pool, and deleted.
alter table item_arrivals drop constraint item_arrivals_pkey;
drop index item_arrivals_pool_id_idx;
alter table item_arrivals add primary key (pool_id, item_id);
