-- What an organization cares about. `version` moves with every change; `built_version` is the one that stored relevance answers for.
create table feed_profiles (
  organization_id uuid primary key references organizations (id),
  profile text not null,
  version int not null,
  built_version int not null default 0,
  updated_at timestamptz not null
);
alter table feed_profiles enable row level security;
alter table feed_profiles force row level security;
create policy own on feed_profiles to tocsin_app using (organization_id = (select tocsin_org())) with check (organization_id = (select tocsin_org()));
create policy every on feed_profiles to tocsin_system using (true) with check (true);
grant select, insert, update, delete on feed_profiles to tocsin_app, tocsin_system;
