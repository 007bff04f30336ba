-- What the operator decides for an organization: its limits and retention, what it uses by day, and its deletion.

-- Limits and usage -------------------------------------------------------------------------------------------------------------------

create table organization_limits (
  organization_id uuid primary key references organizations (id),
  enabled_detections int,
  log_events_per_day bigint,
  log_bytes_per_day bigint,
  log_bytes_stored bigint,
  feed_sources int,
  feed_items int,
  api_keys int,
  requests_per_minute int,
  model_usd_per_day numeric(16, 8),
  model_usd_per_month numeric(16, 8),
  observation_bytes_per_day bigint,
  updated_at timestamptz not null,
  checked_at timestamptz
);
comment on table organization_limits is 'Quotas of organizations. Null is no limit, and so is a missing row.';
comment on column organization_limits.log_bytes_per_day is 'Size of the events as stored when they arrive, uncompressed.';
comment on column organization_limits.log_bytes_stored is 'Size of the log files, compressed.';
comment on column organization_limits.observation_bytes_per_day is 'Size of the results of tools that investigations store on a UTC day.';
comment on column organization_limits.feed_items is 'Items of the private pool that are not retracted.';
comment on column organization_limits.model_usd_per_day is 'Cost of all models together by UTC day.';
comment on column organization_limits.checked_at is 'When the use of the quotas was last compared with them. Null after a change.';
create index on organization_limits (checked_at nulls first);
-- An organization reads its own limits. Only the operator changes them.
alter table organization_limits enable row level security;
alter table organization_limits force row level security;
create policy own on organization_limits for select to tocsin_app using (organization_id = (select tocsin_org()));
create policy every on organization_limits to tocsin_system using (true) with check (true);
grant select on organization_limits to tocsin_app;
grant select, insert, update, delete on organization_limits to tocsin_system;

create table quota_alarms (
  organization_id uuid not null references organizations (id),
  quota text not null,
  level text not null,
  since timestamptz not null,
  primary key (organization_id, quota)
);
comment on table quota_alarms is 'Quotas that are nearly or completely used, as the last check found.';
comment on column quota_alarms.level is 'nearing (at least 80 percent) or reached.';
select tocsin_protect('quota_alarms');

-- Counts what no other table counts. See also dataset_days, run_days and model_usage.
create table usage_days (
  organization_id uuid not null references organizations (id),
  day date not null,
  requests bigint not null default 0,
  refused_requests bigint not null default 0,
  query_ms bigint not null default 0,
  feed_items bigint not null default 0,
  log_bytes_stored bigint not null default 0,
  observation_bytes bigint not null default 0,
  logs_measured_at timestamptz,
  primary key (organization_id, day)
);
comment on table usage_days is 'Use of the service by UTC day. Processes count in memory and add to it every few seconds, so that a crash loses the last of them.';
comment on column usage_days.observation_bytes is 'Size of the results of tools that investigations stored, counted with each of them.';
comment on column usage_days.requests is 'Requests with a valid key or session, including refused ones.';
comment on column usage_days.refused_requests is 'Requests that were answered with 429.';
comment on column usage_days.query_ms is 'Time that the queries of runs took.';
comment on column usage_days.feed_items is 'Items that its sources added or corrected.';
comment on column usage_days.log_bytes_stored is 'Size of the log files at the last measurement of the day.';
comment on column usage_days.logs_measured_at is 'When log_bytes_stored was measured. Null: not on this day.';
create index on usage_days (day);
select tocsin_protect('usage_days');

-- Retention --------------------------------------------------------------------------------------------------------------------------

create table organization_retention (
  organization_id uuid primary key references organizations (id),
  logs_days_max int,
  rows_days_max int,
  hits_days_max int,
  runs_days_max int,
  logs_days int,
  rows_days int,
  hits_days int,
  runs_days int,
  updated_at timestamptz not null
);
comment on table organization_retention is 'How long data of an organization is kept, where that differs from the settings of the service. A null maximum is the setting of the service, a null period is the maximum.';
comment on column organization_retention.logs_days_max is 'Longest retention that the operator allows. It may be longer than the setting of the service.';
comment on column organization_retention.logs_days is 'Retention that the organization chose. Without effect where it is longer than the maximum.';
select tocsin_protect('organization_retention');

-- Deletion ---------------------------------------------------------------------------------------------------------------------------

create table organization_erasures (
  id uuid primary key,
  name text not null,
  requested_at timestamptz not null,
  requested_by text,
  suspended_at timestamptz,
  suspended_by text,
  finished_at timestamptz,
  failures int not null default 0,
  error text,
  row_counts jsonb not null default '{}',
  files int not null default 0,
  bytes bigint not null default 0,
  audit_sequence bigint,
  audit_hash bytea
);
comment on table organization_erasures is 'Organizations that were or are being deleted, with what was erased. They outlive the organization.';
comment on column organization_erasures.id is 'ID of the organization.';
comment on column organization_erasures.requested_by is 'Who requested the deletion.';
comment on column organization_erasures.suspended_by is 'Who had suspended the organization.';
comment on column organization_erasures.failures is 'Number of attempts that failed.';
comment on column organization_erasures.error is 'Message of the last failed attempt. Null if the erasure has finished.';
comment on column organization_erasures.row_counts is 'Number of deleted rows by table.';
comment on column organization_erasures.files is 'Number of deleted log files.';
comment on column organization_erasures.bytes is 'Size of the log files that the database listed.';
comment on column organization_erasures.audit_hash is 'Hash of the last entry of the organization''s audit log, by which a note of it can be recognized.';
create index on organization_erasures (requested_at) where finished_at is null;
-- No organization sees it.
alter table organization_erasures enable row level security;
alter table organization_erasures force row level security;
create policy every on organization_erasures to tocsin_system using (true) with check (true);
grant select, insert, update on organization_erasures to tocsin_system;

create table organization_erasure_files (
  erasure_id uuid not null references organization_erasures (id),
  path text not null,
  primary key (erasure_id, path)
);
comment on table organization_erasure_files is 'Log files that a running erasure deletes. Noted before they are deleted, so that each is counted once, also after an interruption.';
alter table organization_erasure_files enable row level security;
alter table organization_erasure_files force row level security;
create policy every on organization_erasure_files to tocsin_system using (true) with check (true);
grant select, insert, delete on organization_erasure_files to tocsin_system;
