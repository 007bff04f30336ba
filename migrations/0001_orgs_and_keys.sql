-- Two roles stand behind every statement of the program; they own nothing and cannot pass by row-level security.
-- They are made by src/db/roles.ts before the first migration, since a given server may forbid it and must then say what to run.

create function tocsin_org() returns uuid language sql stable parallel safe as
$$ select nullif(current_setting('tocsin.org', true), '')::uuid $$;

-- Puts the second wall around a table of tenant rows: an organization sees its own, the system role all, anyone else nothing.
create function tocsin_protect(name regclass) returns void language plpgsql as $$
begin
  execute format('alter table %s enable row level security', name);
  execute format('alter table %s force row level security', name);
  execute format('create policy own on %s to tocsin_app using (organization_id = (select tocsin_org())) with check (organization_id = (select tocsin_org()))', name);
  execute format('create policy every on %s to tocsin_system using (true) with check (true)', name);
  execute format('grant select, insert, update, delete on %s to tocsin_app, tocsin_system', name);
end $$;

-- A default partition takes what lies outside the months made so far (replays of old logs, a clock far ahead).
create function tocsin_partition_months(parent text, first date, months int) returns void language plpgsql as $$
declare
  month date := date_trunc('month', first);
  child text;
begin
  for i in 0 .. months loop
    child := parent || '_' || to_char(month, 'YYYYMM');
    if to_regclass(child) is null then
      begin
        execute format('create table %I partition of %I for values from (%L) to (%L)', child, parent,
          to_char(month, 'YYYY-MM-DD') || 'T00:00:00Z', to_char(month + interval '1 month', 'YYYY-MM-DD') || 'T00:00:00Z');
      exception when check_violation then null; -- rows of that month already stand in the default partition and stay there
      end;
    end if;
    month := month + interval '1 month';
  end loop;
end $$;

create table organizations (
  id uuid primary key,
  name text not null unique,
  created_at timestamptz not null default now()
);
alter table organizations enable row level security;
alter table organizations force row level security;
create policy own on organizations to tocsin_app using (id = (select tocsin_org()));
create policy every on organizations to tocsin_system using (true) with check (true);
grant select on organizations to tocsin_app;
grant select, insert, update, delete on organizations to tocsin_system;

create table api_keys (
  id text primary key,
  organization_id uuid not null references organizations (id),
  name text not null,
  secret_hash bytea not null,
  previous_secret_hash bytea,
  previous_until timestamptz,
  scopes text[] not null,
  from_environment boolean not null default false,
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  revoked_at timestamptz
);
create index on api_keys (organization_id, created_at desc, id);
create unique index one_environment_key on api_keys (from_environment) where from_environment and revoked_at is null;
select tocsin_protect('api_keys');

create table audit (
  organization_id uuid not null,
  id uuid not null,
  at timestamptz not null,
  key_id text,
  action text not null,
  resource_type text not null,
  resource_id text not null,
  before text,
  after text,
  primary key (at, id)
) partition by range (at);
create index on audit (organization_id, at desc, id desc);
create table audit_default partition of audit default;
select tocsin_protect('audit');
select tocsin_partition_months('audit', current_date, 3);

create table idempotency_keys (
  organization_id uuid not null references organizations (id),
  key_id text not null,
  route text not null,
  idempotency_key text not null,
  body_hash bytea not null,
  status int,
  answer text,
  created_at timestamptz not null default now(),
  primary key (organization_id, key_id, route, idempotency_key)
);
create index on idempotency_keys (created_at);
select tocsin_protect('idempotency_keys');
