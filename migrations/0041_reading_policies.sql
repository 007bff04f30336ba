-- A policy for all commands is also asked by every read. What may be written may be read anyway, so reading now asks one question of each
-- row in place of two, and of each pool one in place of two: half the planning of a list, and less for every row that it passes.
create function tocsin_write_policies(name regclass, condition text) returns void language plpgsql as $$
begin
  execute format('create policy inserted on %s for insert to tocsin_app with check (%s)', name, condition);
  execute format('create policy updated on %s for update to tocsin_app using (%s)', name, condition);
  execute format('create policy deleted on %s for delete to tocsin_app using (%s)', name, condition);
end $$;

create or replace function tocsin_protect_items(name regclass) returns void language plpgsql as $$
begin
  execute format('alter table %s enable row level security', name);
  execute format('alter table %s force row level security', name);
  execute format('create policy visible on %s for select to tocsin_app using (pool_id in (select id from feed_pools))', name);
  perform tocsin_write_policies(name, 'pool_id in (select id from feed_pools p where p.organization_id = (select tocsin_org()))');
  execute format('create policy every on %s to tocsin_system using (true) with check (true)', name);
  execute format('grant select, insert, update, delete on %s to tocsin_app, tocsin_system', name);
end $$;

do $$
declare name regclass;
begin
  for name in select polrelid from pg_policy where polname = 'written' loop
    execute format('drop policy written on %s', name);
    perform tocsin_write_policies(name, 'pool_id in (select id from feed_pools p where p.organization_id = (select tocsin_org()))');
  end loop;
  drop policy own on feed_pools;
  perform tocsin_write_policies('feed_pools', 'organization_id = (select tocsin_org())');
end $$;
