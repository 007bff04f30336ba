-- When: one row per detection that ever had a schedule. Narrow and hot, so apart from the definition.
-- `boundary_at` ends the last planned window; covered, pending and gaps tile [coverage_from, boundary_at).
create table schedules (
  organization_id uuid not null,
  detection_id uuid not null,
  cron text,
  active boolean not null,
  next_slot_at timestamptz,
  coverage_from timestamptz not null,
  boundary_at timestamptz not null,
  lookback_minutes int,
  delay_ms int not null default 0,
  author_failures int not null default 0,
  primary key (organization_id, detection_id),
  foreign key (organization_id, detection_id) references agents (organization_id, id)
);
create index schedules_due on schedules (next_slot_at) where active;
select tocsin_protect('schedules');

-- Slot windows planned and not yet examined. `failure`: the kind of the last failure that kept them from it.
create table pending_windows (
  organization_id uuid not null,
  detection_id uuid not null,
  window_from timestamptz not null,
  window_to timestamptz not null,
  slot_at timestamptz not null,
  failure text,
  primary key (organization_id, detection_id, window_from),
  check (window_from < window_to),
  foreign key (organization_id, detection_id) references schedules (organization_id, detection_id)
);
select tocsin_protect('pending_windows');

-- Examined time, neighbouring windows joined into one row.
create table coverage (
  organization_id uuid not null,
  detection_id uuid not null,
  covered_from timestamptz not null,
  covered_to timestamptz not null,
  primary key (organization_id, detection_id, covered_from),
  check (covered_from < covered_to),
  foreign key (organization_id, detection_id) references schedules (organization_id, detection_id)
);
select tocsin_protect('coverage');

create table gaps (
  organization_id uuid not null,
  id uuid not null,
  detection_id uuid not null,
  gap_from timestamptz not null,
  gap_to timestamptz not null,
  reason text not null,
  state text not null default 'open',
  detail text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (organization_id, id),
  check (gap_from < gap_to),
  foreign key (organization_id, detection_id) references schedules (organization_id, detection_id)
);
create index on gaps (organization_id, detection_id, gap_from);
select tocsin_protect('gaps');

create table runs (
  organization_id uuid not null,
  id uuid not null,
  detection_id uuid not null,
  due_at timestamptz not null,
  trigger text not null,
  status text not null,
  status_reason text,
  slot_at timestamptz,
  window_from timestamptz,
  window_to timestamptz,
  windows text not null default '[]',
  attempt int not null default 0,
  custom_instructions text,
  on_event_time boolean not null default false,
  requested_by text,
  revision int,
  prompt_version int,
  model_alias text,
  model text,
  started_at timestamptz,
  finished_at timestamptz,
  lag_ms bigint,
  phases text not null default '[]',
  query text,
  rows_total bigint not null default 0,
  truncated boolean not null default false,
  entities text not null default '[]',
  triggered boolean not null default false,
  hit_count int not null default 0,
  score numeric(4, 1),
  score_basis text,
  score_criteria text not null default '[]',
  tokens int not null default 0,
  cost_usd numeric(14, 6) not null default 0,
  warnings text not null default '[]',
  failure text,
  primary key (due_at, id),
  foreign key (organization_id, detection_id) references agents (organization_id, id)
) partition by range (due_at);
create unique index one_run_per_slot on runs (organization_id, detection_id, due_at) where trigger = 'schedule';
create index on runs (organization_id, detection_id, due_at desc, id desc);
create table runs_default partition of runs default;
select tocsin_protect('runs');
select tocsin_partition_months('runs', (current_date - interval '1 month')::date, 4);

-- The queue holds only what is queued or running: a claim never looks at the past. `start_at` is slot time, `retry_at` and the lease the database's clock.
-- `begun`: claimed at least once, so that a newer slot no longer supersedes it. `worker` names the claim and, with `attempt`, fences its writes.
create table run_queue (
  organization_id uuid not null,
  run_id uuid not null primary key,
  detection_id uuid not null,
  kind text not null,
  due_at timestamptz not null,
  start_at timestamptz not null,
  retry_at timestamptz,
  state text not null default 'queued',
  begun boolean not null default false,
  attempt int not null default 0,
  lost int not null default 0,
  retries int not null default 0,
  lease_until timestamptz,
  worker text,
  cancel_requested boolean not null default false,
  foreign key (organization_id, detection_id) references agents (organization_id, id)
);
create index run_queue_claim on run_queue (organization_id, kind, start_at, run_id) where state = 'queued';
create unique index one_running_of_each_kind on run_queue (organization_id, detection_id, kind) where state = 'running';
create unique index one_queued_of_each_kind on run_queue (organization_id, detection_id, kind) where state = 'queued' and not begun;
create index run_queue_leases on run_queue (lease_until) where state = 'running';
create index on run_queue (organization_id, detection_id);
select tocsin_protect('run_queue');

create table lanes (
  organization_id uuid not null references organizations (id),
  kind text not null,
  cap int not null default 8,
  served_at timestamptz not null default 'epoch',
  primary key (organization_id, kind)
);
create index on lanes (served_at);
select tocsin_protect('lanes');

create table memory (
  organization_id uuid not null,
  detection_id uuid not null,
  generation text not null,
  key text not null,
  window_from timestamptz not null,
  entity text not null,
  number double precision,
  value text,
  primary key (organization_id, detection_id, generation, key, entity, window_from),
  foreign key (organization_id, detection_id) references agents (organization_id, id)
);
create index on memory (organization_id, detection_id, generation, entity, window_from);
select tocsin_protect('memory');

create table memory_windows (
  organization_id uuid not null,
  detection_id uuid not null,
  generation text not null,
  window_from timestamptz not null,
  window_to timestamptz not null,
  primary key (organization_id, detection_id, generation, window_from),
  foreign key (organization_id, detection_id) references agents (organization_id, id)
);
select tocsin_protect('memory_windows');

-- Generations whose memory was filled from the past, before their first window.
create table memory_fills (
  organization_id uuid not null,
  detection_id uuid not null,
  generation text not null,
  filled_at timestamptz not null,
  primary key (organization_id, detection_id, generation),
  foreign key (organization_id, detection_id) references agents (organization_id, id)
);
select tocsin_protect('memory_fills');

-- What a window made worth judging, written with memory and coverage in one transaction, judged afterwards one by one.
create table candidates (
  organization_id uuid not null,
  id uuid not null,
  detection_id uuid not null,
  run_id uuid not null,
  trigger text not null,
  window_from timestamptz not null,
  window_to timestamptz not null,
  entity text not null,
  entity_type text not null,
  kind text not null,
  kind_key text not null,
  severity text not null,
  facts text not null,
  rows text not null,
  generation text not null,
  learned boolean not null default true,
  state text not null default 'pending',
  verdict text,
  hit_id uuid,
  judged_run_id uuid,
  created_at timestamptz not null,
  judged_at timestamptz,
  primary key (organization_id, id),
  foreign key (organization_id, detection_id) references agents (organization_id, id)
);
create index on candidates (organization_id, detection_id, window_from, id) where state = 'pending';
create index on candidates (organization_id, run_id);
select tocsin_protect('candidates');

create table suppressions (
  organization_id uuid not null,
  detection_id uuid not null,
  key text not null,
  positive boolean not null,
  hit_id uuid,
  facts text not null,
  severity text not null,
  since_at timestamptz not null,
  until_at timestamptz not null,
  primary key (organization_id, detection_id, key),
  foreign key (organization_id, detection_id) references agents (organization_id, id)
);
select tocsin_protect('suppressions');

create table hits (
  organization_id uuid not null,
  id uuid not null,
  detection_id uuid not null,
  key text not null,
  entity text not null,
  entity_type text not null,
  kind text not null,
  severity text not null,
  confidence int not null,
  headline text not null,
  summary text not null,
  next_step text not null,
  evidence text not null,
  rows text not null,
  facts text not null,
  judged boolean not null default true,
  model_disagrees text,
  status text not null default 'open',
  revision int not null default 1,
  occurrences int not null default 1,
  window_from timestamptz not null,
  window_to timestamptz not null,
  first_seen_at timestamptz not null,
  last_seen_at timestamptz not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (organization_id, id),
  unique (organization_id, detection_id, key),
  foreign key (organization_id, detection_id) references agents (organization_id, id)
);
create index on hits (organization_id, created_at desc, id desc);
select tocsin_protect('hits');

create table hit_occurrences (
  organization_id uuid not null,
  hit_id uuid not null,
  run_id uuid not null,
  window_from timestamptz not null,
  seen_at timestamptz not null,
  primary key (organization_id, hit_id, run_id, window_from),
  foreign key (organization_id, hit_id) references hits (organization_id, id)
);
create index on hit_occurrences (organization_id, run_id);
select tocsin_protect('hit_occurrences');

-- The roll-up that the 30-day figures are read from; `score_basis` is '' for runs without a score.
create table run_days (
  organization_id uuid not null,
  detection_id uuid not null,
  day date not null,
  score_basis text not null default '',
  runs int not null default 0,
  triggered int not null default 0,
  score_sum numeric(14, 1) not null default 0,
  scores int not null default 0,
  primary key (organization_id, detection_id, day, score_basis),
  foreign key (organization_id, detection_id) references agents (organization_id, id)
);
select tocsin_protect('run_days');

create table run_facts (
  organization_id uuid not null,
  detection_id uuid not null,
  last_run_at timestamptz not null,
  score_basis text,
  primary key (organization_id, detection_id),
  foreign key (organization_id, detection_id) references agents (organization_id, id)
);
select tocsin_protect('run_facts');

create table outbox (
  organization_id uuid not null,
  id uuid not null,
  at timestamptz not null,
  type text not null,
  resource_id text not null,
  body text not null,
  primary key (at, id)
) partition by range (at);
create table outbox_default partition of outbox default;
select tocsin_protect('outbox');
select tocsin_partition_months('outbox', current_date, 3);

create table run_steps (
  organization_id uuid not null,
  run_id uuid not null,
  attempt int not null,
  n int not null,
  at timestamptz not null,
  body text not null,
  primary key (at, run_id, attempt, n)
) partition by range (at);
create table run_steps_default partition of run_steps default;
select tocsin_protect('run_steps');
select tocsin_partition_months('run_steps', current_date, 3);
