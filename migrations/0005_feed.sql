-- A pool is a set of items with one audience: everyone, one source's assigned organizations, or one organization alone.
-- Sequence and version are kept per pool, so that nothing of a private pool shows in anyone else's numbers.
create table feed_pools (
  id uuid primary key,
  organization_id uuid references organizations (id),
  kind text not null check (kind in ('public', 'assigned', 'private')),
  assigned_to uuid[],
  seq bigint not null default 0,
  last_added_at timestamptz not null default 'epoch'
);
create unique index one_private_pool on feed_pools (organization_id) where kind = 'private';
alter table feed_pools enable row level security;
alter table feed_pools force row level security;
create policy own on feed_pools to tocsin_app using (organization_id = (select tocsin_org())) with check (organization_id = (select tocsin_org()));
create policy visible on feed_pools for select to tocsin_app using (
  kind = 'public' or organization_id = (select tocsin_org()) or (kind = 'assigned' and (select tocsin_org()) = any (assigned_to)));
create policy every on feed_pools to tocsin_system using (true) with check (true);
grant select, insert, update, delete on feed_pools to tocsin_app, tocsin_system;
insert into feed_pools (id, kind) values ('00000000-0000-7000-8000-000000000001', 'public');

create table feed_sources (
  organization_id uuid not null references organizations (id),
  id uuid not null,
  visibility text not null check (visibility in ('private', 'shared')),
  assigned_to uuid[],
  pool_id uuid not null references feed_pools (id),
  kind text not null,
  name text not null,
  url text not null,
  -- Its maker may name files of this machine: the command line, or a directory that the settings open.
  file_allowed boolean not null default false,
  publisher text,
  tlp text,
  license text,
  reliability numeric(3, 2) not null default 0.5,
  schedule text,
  enabled boolean not null default true,
  include text not null default '[]',
  exclude text not null default '[]',
  etag text,
  last_modified text,
  cursor text not null default '{}',
  next_pull_at timestamptz,
  lease_until timestamptz,
  worker text,
  failures int not null default 0,
  last_pull_at timestamptz,
  last_success_at timestamptz,
  last_new_at timestamptz,
  last_error text,
  last_result text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deleted_at timestamptz,
  primary key (organization_id, id),
  unique (id)
);
create index on feed_sources (next_pull_at) where enabled and deleted_at is null;
alter table feed_sources enable row level security;
alter table feed_sources force row level security;
create policy own on feed_sources to tocsin_app using (organization_id = (select tocsin_org())) with check (organization_id = (select tocsin_org()));
create policy shared on feed_sources for select to tocsin_app using (
  visibility = 'shared' and (assigned_to is null or (select tocsin_org()) = any (assigned_to)));
create policy every on feed_sources to tocsin_system using (true) with check (true);
grant select, insert, update, delete on feed_sources to tocsin_app, tocsin_system;

create table items (
  organization_id uuid not null references organizations (id),
  id uuid primary key,
  pool_id uuid not null references feed_pools (id),
  source_id uuid references feed_sources (id),
  record_id text not null,
  generation int not null default 1,
  canonical_key text not null,
  duplicate_of uuid,
  version int not null default 1,
  content_hash text not null,
  -- Of what the source said, so that a change of ours is told from one of the source.
  record_hash text not null,
  record_modified_at timestamptz,
  related uuid[] not null default '{}',
  severity text not null,
  severity_rule text not null,
  status text not null,
  publisher text not null,
  source_name text not null,
  platforms text[] not null default '{}',
  title text not null,
  publish_time timestamptz,
  doc text not null,
  next_expiry_at timestamptz,
  missing_pulls int not null default 0,
  seq bigint not null,
  added_to_feed_at timestamptz not null,
  created_at timestamptz not null,
  last_updated timestamptz not null,
  unique (source_id, record_id, generation)
);
create index on items (pool_id, added_to_feed_at desc, id desc) include (severity, status, publisher, source_name, platforms);
create index on items (pool_id, canonical_key);

create table item_versions (
  organization_id uuid not null references organizations (id),
  item_id uuid not null references items (id),
  pool_id uuid not null references feed_pools (id),
  version int not null,
  cause text not null,
  changed text[] not null default '{}',
  stored_text text not null,
  doc text not null,
  at timestamptz not null,
  primary key (item_id, version)
);

-- Answers a total or a breakdown without counting items. `platforms` is the sorted list joined by commas.
create table feed_counts (
  pool_id uuid not null references feed_pools (id),
  severity text not null,
  status text not null,
  publisher text not null,
  source_name text not null,
  platforms text not null,
  n int not null,
  primary key (pool_id, severity, status, publisher, source_name, platforms)
);

-- An item is seen by who sees its pool and written by its owner; the policies of feed_pools hold inside these.
do $$
declare name text;
begin
  foreach name in array array['items', 'item_versions', 'feed_counts'] loop
    execute format('alter table %I enable row level security', name);
    execute format('alter table %I force row level security', name);
    execute format('create policy visible on %I for select to tocsin_app using (pool_id in (select id from feed_pools))', name);
    execute format('create policy written on %I to tocsin_app using (pool_id in (select id from feed_pools p where p.organization_id = (select tocsin_org())))', name);
    execute format('create policy every on %I to tocsin_system using (true) with check (true)', name);
    execute format('grant select, insert, update, delete on %I to tocsin_app, tocsin_system', name);
  end loop;
end $$;
