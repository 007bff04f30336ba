-- Where events go. `sealed` holds address and signing secret, encrypted with TOCSIN_SECRET_KEY; `shown_url` is what may be seen of the address.
-- `detection_ids` null: events of every detection.
create table outputs (
  organization_id uuid not null references organizations (id),
  id uuid not null,
  kind text not null check (kind in ('webhook', 'slack', 'teams')),
  name text not null,
  shown_url text not null,
  sealed bytea not null,
  event_types text[] not null,
  detection_ids uuid[],
  min_severity text,
  enabled boolean not null default true,
  disabled_reason text,
  -- Consecutive failed tries: a destination that is down is asked by one delivery at a time.
  failures int not null default 0,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (organization_id, id)
);
select tocsin_protect('outputs');

create index on outbox (organization_id, id);

-- One row per event and destination. `next_try_at` is the database's clock; a claim moves it on by its lease, so that another worker takes
-- over what a dead one held. `tries` fences: only the try that counts last may write its end.
create table deliveries (
  organization_id uuid not null,
  id uuid not null,
  output_id uuid not null,
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
  foreign key (organization_id, output_id) references outputs (organization_id, id) on delete cascade
);
create index deliveries_due on deliveries (organization_id, output_id, next_try_at) where state = 'pending';
create index on deliveries (organization_id, output_id, created_at desc, id desc);
create index deliveries_ended on deliveries (created_at) where state <> 'pending';
create index deliveries_waiting on deliveries (organization_id, event_id) where state = 'pending';
select tocsin_protect('deliveries');
