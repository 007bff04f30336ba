-- What an organization uses by day, where no other table counts it. See also dataset_days, run_days and model_usage.

create table usage_days (
  organization_id uuid not null references organizations (id),
  day date not null,
  requests bigint not null default 0,
  refused_requests bigint not null default 0,
  query_ms bigint not null default 0,
  feed_items bigint not null default 0,
  log_bytes_stored bigint not null default 0,
  logs_measured_at timestamptz,
  primary key (organization_id, day)
);
comment on table usage_days is 'Use of the service by UTC day. Processes count in memory and add to it every few seconds, so that a crash loses the last of them.';
comment on column usage_days.requests is 'Requests with a valid key or session, including refused ones.';
comment on column usage_days.refused_requests is 'Requests that were answered with 429.';
comment on column usage_days.query_ms is 'Time that the queries of runs took.';
comment on column usage_days.feed_items is 'Items that its sources added or corrected.';
comment on column usage_days.log_bytes_stored is 'Size of the log files at the last measurement of the day.';
comment on column usage_days.logs_measured_at is 'When log_bytes_stored was measured. Null: not on this day.';
create index on usage_days (day);
select tocsin_protect('usage_days');
create index on model_usage (organization_id, day);
