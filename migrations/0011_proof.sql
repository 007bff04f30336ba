-- Backfill: how far a gap that is being filled has been filled, and the run that does it.
alter table gaps add column filled_to timestamptz, add column run_id uuid;
create index gaps_filling on gaps (organization_id, detection_id, gap_from) where state = 'filling';

-- Examined windows that a backfill has to look at again, since memory before them changed.
create table revisits (
  organization_id uuid not null,
  detection_id uuid not null,
  run_id uuid not null,
  window_from timestamptz not null,
  window_to timestamptz not null,
  primary key (organization_id, detection_id, run_id, window_from),
  foreign key (organization_id, detection_id) references schedules (organization_id, detection_id)
);
select tocsin_protect('revisits');

-- Rises with each change of the past: a window that was analysed over an older one is analysed again before it is stored.
alter table schedules add column memory_epoch int not null default 0;
-- False: filled from the past before a detection's first window, so never examined.
alter table memory_windows add column examined boolean not null default true;
create index candidates_window on candidates (organization_id, detection_id, window_from);

-- `superseded`: outdated by the program, since the past changed; found again, it is made anew. A person's verdict stands.
alter table hits add column superseded boolean not null default false;
create index hits_detection on hits (organization_id, detection_id, status);

create table hit_changes (
  organization_id uuid not null,
  id uuid not null,
  hit_id uuid not null,
  at timestamptz not null,
  key_id text,
  from_status text not null,
  to_status text not null,
  reason text,
  primary key (organization_id, id),
  foreign key (organization_id, hit_id) references hits (organization_id, id) on delete cascade
);
create index on hit_changes (organization_id, hit_id, at);
select tocsin_protect('hit_changes');

-- What people said of a detection's hits, counted with each change of a status.
create table hit_reviews (
  organization_id uuid not null,
  detection_id uuid not null,
  true_positives int not null default 0,
  benign int not null default 0,
  false_positives int not null default 0,
  primary key (organization_id, detection_id),
  foreign key (organization_id, detection_id) references agents (organization_id, id)
);
select tocsin_protect('hit_reviews');

-- Kept apart from the query. A snooze has an end and covers an entity or the whole detection.
create table exceptions (
  organization_id uuid not null,
  id uuid not null,
  detection_id uuid not null,
  kind text not null check (kind in ('exception', 'snooze')),
  entity text,
  field text,
  value text,
  reason text not null,
  key_id text,
  created_at timestamptz not null,
  expires_at timestamptz,
  primary key (organization_id, id),
  foreign key (organization_id, detection_id) references agents (organization_id, id)
);
create index on exceptions (organization_id, detection_id, created_at desc, id desc);
select tocsin_protect('exceptions');

alter table runs add column suppressed text not null default '{}';

create table detection_tests (
  organization_id uuid not null,
  detection_id uuid not null,
  local_query text,
  cases text not null,
  updated_at timestamptz not null,
  primary key (organization_id, detection_id),
  foreign key (organization_id, detection_id) references agents (organization_id, id)
);
select tocsin_protect('detection_tests');
