-- `sealed_until`: nothing is ever published below it. `last_ingested_at` strictly increases under this row's lock.
create table datasets (
  organization_id uuid not null references organizations (id),
  name text not null,
  created_at timestamptz not null,
  last_ingested_at timestamptz,
  sealed_until timestamptz,
  events bigint not null default 0,
  first_event_at timestamptz,
  last_event_at timestamptz,
  catalogue_version int not null default 0,
  primary key (organization_id, name)
);
select tocsin_protect('datasets');

-- `keys` are the spellings of a name (the engine does not tell case apart), `nested` what is known of the objects it holds, as JSON text.
create table dataset_columns (
  organization_id uuid not null,
  dataset text not null,
  name text not null,
  type text not null,
  position int not null,
  keys text[] not null,
  nested text,
  open boolean not null default false,
  primary key (organization_id, dataset, name),
  foreign key (organization_id, dataset) references datasets (organization_id, name)
);
select tocsin_protect('dataset_columns');

create table log_batches (
  organization_id uuid not null,
  id uuid not null,
  dataset text not null,
  body_hash bytea not null,
  history boolean not null default false,
  accepted int not null,
  rejected int not null,
  received_at timestamptz not null,
  primary key (organization_id, id),
  foreign key (organization_id, dataset) references datasets (organization_id, name)
);
create index on log_batches (organization_id, dataset, body_hash, received_at desc);
select tocsin_protect('log_batches');

create table segments (
  organization_id uuid not null,
  id uuid not null,
  dataset text not null,
  path text not null,
  format text not null,
  history boolean not null default false,
  ingested_from timestamptz not null,
  ingested_to timestamptz not null,
  time_from timestamptz not null,
  time_to timestamptz not null,
  rows bigint not null,
  bytes bigint not null,
  columns int not null default 0,
  created_at timestamptz not null,
  replaced_at timestamptz,
  primary key (organization_id, id),
  foreign key (organization_id, dataset) references datasets (organization_id, name)
);
create index on segments (organization_id, dataset, ingested_to) where replaced_at is null;
create index on segments (organization_id, dataset, time_to) where replaced_at is null;
create index on segments (replaced_at) where replaced_at is not null;
select tocsin_protect('segments');
