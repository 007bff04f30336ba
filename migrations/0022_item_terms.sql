-- As tocsin_protect, for rows that are seen by who sees their pool and written by its owner.
create function tocsin_protect_items(name regclass) returns void language plpgsql as $$
begin
  execute format('alter table %s enable row level security', name);
  execute format('alter table %s force row level security', name);
  execute format('create policy visible on %s for select to tocsin_app using (pool_id in (select id from feed_pools))', name);
  execute format('create policy written on %s to tocsin_app using (pool_id in (select id from feed_pools p where p.organization_id = (select tocsin_org())))', name);
  execute format('create policy every on %s to tocsin_system using (true) with check (true)', name);
  execute format('grant select, insert, update, delete on %s to tocsin_app, tocsin_system', name);
end $$;

-- What an item can be found and compared by: a row a value. `src/feed/terms.ts` says what stands in `value`.
create table item_terms (
  organization_id uuid not null references organizations (id),
  item_id uuid not null references items (id),
  pool_id uuid not null references feed_pools (id),
  kind text not null check (kind in ('indicator', 'cve', 'technique', 'actor', 'malware', 'product')),
  value text not null,
  primary key (item_id, kind, value)
);
create index on item_terms (kind, value);

select tocsin_protect_items('item_terms');
