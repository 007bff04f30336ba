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

do $$
declare name text;
begin
  foreach name in array array['item_terms'] loop
    execute format('alter table %I enable row level security', name);
    execute format('alter table %I force row level security', name);
    execute format('create policy visible on %I for select to tocsin_app using (pool_id in (select id from feed_pools))', name);
    execute format('create policy written on %I to tocsin_app using (pool_id in (select id from feed_pools p where p.organization_id = (select tocsin_org())))', name);
    execute format('create policy every on %I to tocsin_system using (true) with check (true)', name);
    execute format('grant select, insert, update, delete on %I to tocsin_app, tocsin_system', name);
  end loop;
end $$;
