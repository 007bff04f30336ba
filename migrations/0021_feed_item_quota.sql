-- A quota of the items in the private pool of an organization.
alter table organization_limits add column feed_items int;
comment on column organization_limits.feed_items is 'Items of the private pool that are not retracted.';
