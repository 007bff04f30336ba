-- SIEMs of an organization. The embedded store needs no row: its connection has the organization's own id.
-- `sealed` holds the credentials, encrypted with TOCSIN_SECRET_KEY; `settings` may be shown.
create table connections (
  organization_id uuid not null references organizations (id),
  id uuid not null,
  kind text not null check (kind <> 'local'),
  name text not null,
  settings text not null,
  sealed bytea not null,
  clock text not null check (clock in ('ingest', 'event')),
  delay_minutes int not null,
  recheck_minutes int not null,
  places int not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (organization_id, id)
);
create index on connections (organization_id, created_at desc, id desc);
select tocsin_protect('connections');

-- Trouble upstream: no run asks the connection before a check found it well. `query`: the one that met it. `check_at`: the database's clock.
create table connection_pauses (
  organization_id uuid not null,
  connection_id uuid not null,
  kind text not null,
  message text not null,
  query text,
  since_at timestamptz not null,
  check_at timestamptz not null,
  primary key (organization_id, connection_id),
  foreign key (organization_id, connection_id) references connections (organization_id, id) on delete cascade
);
create index on connection_pauses (check_at);
select tocsin_protect('connection_pauses');

-- The connection that a detection asks: the one that it names, else the only one of its SIEM's kind; null: the embedded store, or none.
create function tocsin_connection(org uuid, named uuid, siem text) returns uuid language sql stable parallel safe as $$
  select case when named is not null then nullif(named, org) when siem is null then null else (
    select case when count(*) = 1 then (array_agg(c.id))[1] end from connections c where c.organization_id = org and c.kind = lower(siem)
  ) end
$$;

-- Whom a queued run will ask, so that a claim passes by what is paused or has no place left.
alter table run_queue add column connection_id uuid;
create index run_queue_connections on run_queue (organization_id, connection_id) where state = 'running' and connection_id is not null;
alter table schedules add column connection_id uuid;

-- Windows examined on event time, to be examined once more when late rows have come. `due_at`: slot time.
create table rechecks (
  organization_id uuid not null,
  detection_id uuid not null,
  window_from timestamptz not null,
  window_to timestamptz not null,
  generation text not null,
  due_at timestamptz not null,
  tries int not null default 0,
  primary key (organization_id, detection_id, window_from),
  foreign key (organization_id, detection_id) references schedules (organization_id, detection_id)
);
create index on rechecks (due_at);
select tocsin_protect('rechecks');

-- MCP servers that an organization added; addresses only. `sealed` holds the headers.
create table mcp_servers (
  organization_id uuid not null references organizations (id),
  id uuid not null,
  name text not null,
  url text not null,
  sealed bytea not null,
  tools text[],
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (organization_id, id),
  unique (organization_id, name)
);
select tocsin_protect('mcp_servers');
