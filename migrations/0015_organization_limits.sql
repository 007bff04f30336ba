-- What the operator allows an organization, what it uses by day, and which of its quotas are nearly or completely used.

create table organization_limits (
  organization_id uuid primary key references organizations (id),
  enabled_detections int,
  log_events_per_day bigint,
  log_bytes_per_day bigint,
  log_bytes_stored bigint,
  feed_sources int,
  api_keys int,
  requests_per_minute int,
  model_usd_per_day numeric(16, 8),
  model_usd_per_month numeric(16, 8),
  updated_at timestamptz not null,
  checked_at timestamptz
);
comment on table organization_limits is 'Quotas of organizations. Null is no limit, and so is a missing row.';
comment on column organization_limits.log_bytes_per_day is 'Size of the events as stored when they arrive, uncompressed.';
comment on column organization_limits.log_bytes_stored is 'Size of the log files, compressed.';
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

create table dataset_days (
  organization_id uuid not null,
  day date not null,
  dataset text not null,
  events bigint not null,
  bytes bigint not null,
  primary key (organization_id, day, dataset),
  foreign key (organization_id, dataset) references datasets (organization_id, name)
);
comment on table dataset_days is 'Number and size of the received events by UTC day, history included. Written with each batch under the lock of its dataset.';
comment on column dataset_days.bytes is 'Size of the events as stored when they arrive, uncompressed.';
select tocsin_protect('dataset_days');
