-- SIEM connections, MCP servers, and the use of model aliases: usage, reservations and pauses.

-- SIEM connections -------------------------------------------------------------------------------------------------------------------

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
comment on table connections is 'SIEM connections. The embedded log store has no row; its connection id is the id of the organization.';
comment on column connections.settings is 'JSON of the settings that the API may return.';
comment on column connections.sealed is 'Credentials, encrypted with TOCSIN_SECRET_KEY.';
comment on column connections.clock is 'Clock of the windows of scheduled runs: ingest (time of ingestion) or event (time of the event).';
comment on column connections.delay_minutes is 'Time between the end of a window and its slot, so that late rows can arrive.';
comment on column connections.recheck_minutes is 'Delay of the second examination of a window on event time, counted from its slot. 0 disables it.';
comment on column connections.places is 'Maximum number of concurrent runs.';
create index on connections (organization_id, created_at desc, id desc);
select tocsin_protect('connections');

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
comment on table connection_pauses is 'Connections that failed. Only manual runs query a paused connection until a health check succeeds.';
comment on column connection_pauses.kind is 'Kind of the failure.';
comment on column connection_pauses.query is 'Query that failed. Null if the failure had another cause.';
comment on column connection_pauses.check_at is 'Time of the next health check, by the clock of the database.';
create index on connection_pauses (check_at);
select tocsin_protect('connection_pauses');

create function tocsin_connection(org uuid, named uuid, siem text) returns uuid language sql stable parallel safe as $$
  select case when named is not null then nullif(named, org) when siem is null then null else (
    select case when count(*) = 1 then (array_agg(c.id))[1] end from connections c where c.organization_id = org and c.kind = lower(siem)
  ) end
$$;
comment on function tocsin_connection(uuid, uuid, text) is
  'Returns the connection that a detection queries: the one it specifies, otherwise the only connection of its SIEM kind. Null for the embedded store, or if no such connection exists.';

-- MCP servers ------------------------------------------------------------------------------------------------------------------------

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
comment on table mcp_servers is 'MCP servers that an organization has added. They are reached by URL only, never started as a command.';
comment on column mcp_servers.sealed is 'Request headers, encrypted with TOCSIN_SECRET_KEY.';
comment on column mcp_servers.tools is 'Tools that detections may use. Null for all tools of the server.';
select tocsin_protect('mcp_servers');

-- Enrichers --------------------------------------------------------------------------------------------------------------------------

create table enrichers (
  organization_id uuid not null references organizations (id),
  id uuid not null,
  name text not null,
  kind text not null,
  settings text not null,
  sealed bytea,
  per_minute int not null,
  per_day int not null,
  cache_hours int not null,
  cost_usd double precision not null,
  enabled boolean not null,
  minute timestamptz,
  minute_used int not null default 0,
  day date,
  day_used int not null default 0,
  failure text,
  updated_at timestamptz not null,
  primary key (organization_id, id),
  unique (organization_id, name)
);
comment on table enrichers is 'Who is asked about addresses, domains and hashes of cases and indicators.';
comment on column enrichers.kind is 'A key of `enricherKinds`, which the service checks.';
comment on column enrichers.settings is 'JSON of the settings of the kind, without secrets.';
comment on column enrichers.sealed is 'Credentials, encrypted with TOCSIN_SECRET_KEY. Null: none.';
comment on column enrichers.cost_usd is 'What a look-up costs.';
comment on column enrichers.minute_used is 'Look-ups in the minute that begins at `minute`.';
comment on column enrichers.day_used is 'Look-ups of the day `day`, UTC.';
comment on column enrichers.failure is 'Why the last look-up got no answer. Null: it got one.';
select tocsin_protect('enrichers');

create table enrichments (
  organization_id uuid not null,
  enricher_id uuid not null,
  value text not null,
  fields text not null,
  at timestamptz not null,
  until timestamptz not null,
  primary key (organization_id, enricher_id, value),
  foreign key (organization_id, enricher_id) references enrichers on delete cascade
);
comment on table enrichments is 'Answers of enrichers that may be used again.';
comment on column enrichments.fields is 'JSON of what is known of the value. Empty: nothing, or the look-up failed.';
comment on column enrichments.until is 'When the value is looked up again.';
select tocsin_protect('enrichments');

-- Model aliases ----------------------------------------------------------------------------------------------------------------------

-- No foreign key to agents: a preview spends tokens on a detection that does not exist yet.
create table model_usage (
  organization_id uuid not null,
  detection_id uuid not null,
  alias text not null,
  day date not null,
  calls int not null default 0,
  tokens bigint not null default 0,
  cost_usd numeric(16, 8) default 0,
  primary key (organization_id, detection_id, alias, day)
);
comment on table model_usage is 'Tokens and cost by detection, model alias and day. Daily and monthly budgets are checked against it.';
comment on column model_usage.day is 'UTC day of slot time.';
comment on column model_usage.cost_usd is 'Null once the alias was used without a price.';
create index on model_usage (organization_id, alias, day);
create index on model_usage (organization_id, day);
select tocsin_protect('model_usage');

create table model_reservations (
  organization_id uuid not null,
  run_id uuid not null,
  conversation uuid not null,
  detection_id uuid not null,
  alias text not null,
  tokens bigint not null,
  cost_usd numeric(16, 8) not null,
  until_at timestamptz not null,
  primary key (organization_id, run_id, conversation)
);
comment on table model_reservations is 'Upper bound of what model calls in progress may still spend, so that concurrent calls do not exceed a budget together.';
comment on column model_reservations.conversation is 'Conversation of the run that makes the call. A conversation has at most one call in progress.';
comment on column model_reservations.until_at is 'When the reservation of a lost worker expires, by the clock of the database.';
create index on model_reservations (organization_id, alias);
select tocsin_protect('model_reservations');

create table model_pauses (
  organization_id uuid not null references organizations (id),
  alias text not null,
  kind text not null,
  message text not null,
  since_at timestamptz not null,
  check_at timestamptz not null,
  primary key (organization_id, alias)
);
comment on table model_pauses is 'Model aliases that failed for an organization. No run calls a paused alias until a health check succeeds.';
comment on column model_pauses.kind is 'Kind of the failure.';
comment on column model_pauses.check_at is 'Time of the next health check, by the clock of the database.';
create index on model_pauses (check_at);
select tocsin_protect('model_pauses');

create table model_abilities (
  alias text primary key,
  fingerprint text not null,
  ways text[] not null,
  calls_tools boolean not null,
  report text,
  misfit_kind text,
  misfit_at timestamptz
);
comment on table model_abilities is 'What calls and checks found out about the model aliases of this installation. A row counts as long as the settings of its alias stay the same.';
comment on column model_abilities.fingerprint is 'Hash of the settings that decide about the abilities.';
comment on column model_abilities.ways is 'Ways to submit a structured answer, in the order in which they are tried: schema, tool, text.';
comment on column model_abilities.calls_tools is 'Whether conversations use tools.';
comment on column model_abilities.report is 'JSON of the latest check. Null: not checked with these settings.';
comment on column model_abilities.misfit_kind is 'Failure of the latest call, since the latest check, that showed that the model or its settings do not fit. Null: none.';
alter table model_abilities enable row level security;
alter table model_abilities force row level security;
create policy every on model_abilities to tocsin_system using (true) with check (true);
grant select, insert, update on model_abilities to tocsin_system;
