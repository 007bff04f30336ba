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
