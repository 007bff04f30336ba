-- Events, the destinations that receive them, and their deliveries.

create table outbox (
  organization_id uuid not null,
  id uuid not null,
  at timestamptz not null,
  type text not null,
  resource_id text not null,
  body text not null,
  primary key (at, id)
) partition by range (at);
comment on table outbox is 'Events, inserted in the transaction of the change that they report. Partitioned by month.';
comment on column outbox.resource_id is 'Id of the changed resource.';
comment on column outbox.body is 'JSON of the event.';
create index on outbox (organization_id, id);
create table outbox_default partition of outbox default;
select tocsin_protect('outbox');
select tocsin_partition_months('outbox', current_date, 3);

create table destinations (
  organization_id uuid not null references organizations (id),
  id uuid not null,
  kind text not null,
  name text not null,
  shown_url text not null,
  settings jsonb not null default '{}',
  sealed bytea not null,
  event_types text[] not null,
  detection_ids uuid[],
  min_severity text,
  tags text[],
  entity_lists text[],
  hours jsonb,
  enabled boolean not null default true,
  disabled_reason text,
  failures int not null default 0,
  tickets_due_at timestamptz not null default clock_timestamp(),
  tickets_until timestamptz,
  tickets_failures int not null default 0,
  tickets_error text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (organization_id, id)
);
comment on table destinations is 'Destinations of events.';
comment on column destinations.kind is 'A key of `destinationKinds`, which the service checks.';
comment on column destinations.shown_url is 'URL without its secret parts.';
comment on column destinations.settings is 'Settings of the kind, without secrets.';
comment on column destinations.sealed is 'URL, credentials and signing secret, encrypted with TOCSIN_SECRET_KEY.';
comment on column destinations.detection_ids is 'Detections whose events are delivered. Null for all detections.';
comment on column destinations.min_severity is 'Lowest severity that is delivered. Null for all.';
comment on column destinations.tags is 'Tags of detections whose hits are delivered. Null for all.';
comment on column destinations.entity_lists is 'Value lists of entities whose hits and incidents are delivered. Null for all.';
comment on column destinations.hours is 'timeZone, days, from and to: when events are delivered. Null for always.';
comment on column destinations.failures is 'Consecutive failed attempts. A failing destination receives one delivery at a time.';
comment on column destinations.tickets_due_at is 'When its open tickets are read next, by the clock of the database.';
comment on column destinations.tickets_until is 'Last change of a ticket that was read, by the clock of the other system. Null before the first.';
comment on column destinations.tickets_failures is 'Consecutive failures to read tickets.';
comment on column destinations.tickets_error is 'Why tickets could not be read the last time. Null if they could.';
create index on destinations (tickets_due_at);
select tocsin_protect('destinations');

create table deliveries (
  organization_id uuid not null,
  id uuid not null,
  destination_id uuid not null,
  event_id uuid not null,
  event_at timestamptz not null,
  event_type text not null,
  resource_id text not null,
  state text not null default 'pending' check (state in ('pending', 'delivered', 'failed')),
  tries int not null default 0,
  tries_max int not null default 10,
  next_try_at timestamptz default clock_timestamp(),
  last_try_at timestamptz,
  last_status int,
  last_error text,
  last_ms int,
  created_at timestamptz not null,
  primary key (organization_id, id),
  foreign key (organization_id, destination_id) references destinations (organization_id, id) on delete cascade
);
comment on table deliveries is 'One row per event and destination.';
comment on column deliveries.event_at is 'The event''s time, which selects its partition of the outbox.';
comment on column deliveries.tries is 'Number of attempts. Fences the result: only the latest attempt may record one.';
comment on column deliveries.next_try_at is 'Next attempt, by the clock of the database. A claim moves it forward by the lease, so that another worker takes over if the claiming one dies.';
comment on column deliveries.last_status is 'HTTP status of the last attempt. Null if there was no response.';
comment on column deliveries.last_ms is 'Duration of the last attempt in milliseconds.';
create index deliveries_due on deliveries (organization_id, destination_id, next_try_at) where state = 'pending';
create index deliveries_waiting on deliveries (organization_id, event_id) where state = 'pending';
create index deliveries_ended on deliveries (created_at) where state <> 'pending';
create index on deliveries (organization_id, destination_id, created_at desc, id desc);
create index on deliveries (organization_id, resource_id);
select tocsin_protect('deliveries');

create table tickets (
  organization_id uuid not null,
  destination_id uuid not null,
  resource_id text not null,
  reference text not null,
  state text not null check (state in ('open', 'acknowledged', 'closed')),
  revision bigint not null,
  updated_at timestamptz not null,
  read_at timestamptz,
  comment_id bigint not null default 0,
  closed_there boolean default false,
  primary key (organization_id, destination_id, resource_id),
  foreign key (organization_id, destination_id) references destinations (organization_id, id) on delete cascade
);
comment on table tickets is 'Alerts and tickets that destinations keep about a resource.';
comment on column tickets.reference is 'Name of the alert or ticket in the other system.';
comment on column tickets.state is 'State that the other system was last told.';
comment on column tickets.revision is 'Revision of the last event that was sent. Earlier ones are skipped.';
comment on column tickets.updated_at is 'When the other system was last told about the resource.';
comment on column tickets.read_at is 'Last change of the ticket that was read, by the clock of the other system.';
comment on column tickets.comment_id is 'Largest ID of a comment there that was read.';
comment on column tickets.closed_there is 'Whether it was closed there when it was last read, while it is open here. Null after this service changed its state.';
create index on tickets (updated_at);
select tocsin_protect('tickets');
