-- What an item came as, where its source speaks STIX: a JSON list of its objects.
alter table item_versions add column objects text;
create index items_in_change_order on items (pool_id, seq, id);

-- When an organization's own word last changed whether an item is retracted for it, so that no later object has an earlier time.
create table feed_marks (
  organization_id uuid not null references organizations (id),
  item_id uuid not null references items (id),
  at timestamptz not null,
  -- Of the organization's own pool.
  seq bigint not null,
  primary key (organization_id, item_id)
);
create index on feed_marks (organization_id, seq, item_id);

create function tocsin_mark_override() returns trigger language plpgsql as $$
declare
  org uuid := coalesce(new.organization_id, old.organization_id);
  item uuid := coalesce(new.item_id, old.item_id);
begin
  if new.status is distinct from old.status then
    insert into feed_marks as m (organization_id, item_id, at, seq)
    select org, item, date_trunc('milliseconds', greatest(new.updated_at, clock_timestamp(), i.last_updated + interval '1 ms')),
      coalesce((select p.seq + 1 from feed_pools p where p.kind = 'private' and p.organization_id = org), 0)
    from items i where i.id = item
    on conflict (organization_id, item_id) do update set at = greatest(excluded.at, m.at + interval '1 ms'), seq = excluded.seq;
  end if;
  return null;
end $$;
create trigger mark_override after insert or update or delete on feed_overrides for each row execute function tocsin_mark_override();

-- What a TAXII collection holds in the eyes of one organization. Rows are written by whoever reads, one at a time: so the dates increase in
-- the order in which anyone can see them.
create table taxii_collections (
  organization_id uuid not null references organizations (id),
  collection text not null,
  last_added timestamptz not null default 'epoch',
  primary key (organization_id, collection)
);

-- How far the pools, the relevant items and the own words are listed.
create table taxii_cursors (
  organization_id uuid not null references organizations (id),
  collection text not null,
  source text not null,
  seq bigint not null,
  item_id uuid not null,
  primary key (organization_id, collection, source)
);

create table taxii_objects (
  organization_id uuid not null references organizations (id),
  collection text not null,
  object_id text not null,
  -- `modified`; empty for observables, which have none.
  version text not null,
  type text not null,
  spec_version text not null,
  date_added timestamptz not null,
  -- Where its content stands. `gone`: the item no longer has it.
  item_id uuid not null,
  item_version int not null,
  gone boolean not null,
  primary key (organization_id, collection, object_id, version)
);
create index on taxii_objects (organization_id, collection, date_added);
create index on taxii_objects (organization_id, collection, item_id);

select tocsin_protect('feed_marks');
select tocsin_protect('taxii_collections');
select tocsin_protect('taxii_cursors');
select tocsin_protect('taxii_objects');
