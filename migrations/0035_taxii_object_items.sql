-- Several items can contain one STIX object, which a collection adds for the first of them. The others decide whether it is still offered when
-- that one drops it or is erased.
create table taxii_object_items (
  organization_id uuid not null,
  collection text not null,
  object_id text not null,
  item_id uuid not null,
  primary key (organization_id, collection, object_id, item_id)
);
comment on table taxii_object_items is 'Items that contain a STIX object of a collection, besides the item for which it was added.';
create index on taxii_object_items (item_id, organization_id, collection);
select tocsin_protect('taxii_object_items');

alter table taxii_objects add column restored boolean not null default false;
comment on column taxii_objects.restored is 'True if an item contains the object again after it was revoked. The version then replaces its own modified time.';

-- While a collection is filled, its statistics say that it is empty, and every index that starts with the collection looks as good as the primary
-- key to find an object. These two can serve no such search, which took seconds a statement.
drop index taxii_objects_organization_id_collection_date_added_idx;
create index taxii_objects_by_date on taxii_objects (organization_id, collection, date_added) where date_added >= 'epoch';
drop index taxii_objects_organization_id_collection_item_id_idx;
create index taxii_objects_by_item on taxii_objects (item_id, organization_id, collection);
