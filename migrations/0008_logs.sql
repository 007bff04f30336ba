-- Catalog of the embedded log store. The events themselves are in files of a folder or bucket; only files listed in segments count.

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
comment on table datasets is 'Datasets of the embedded log store.';
comment on column datasets.last_ingested_at is 'Publication time of the latest batch. Strictly increasing; assigned under the lock of this row.';
comment on column datasets.sealed_until is 'Watermark: no batch is published before this time any more, so windows up to it are complete.';
comment on column datasets.catalogue_version is 'Incremented whenever dataset_columns changes.';
select tocsin_protect('datasets');

create table dataset_columns (
  organization_id uuid not null,
  dataset text not null,
  name text not null,
  type text not null,
  position int not null,
  keys text[] not null,
  nested text,
  open boolean not null default false,
  mixed boolean not null default false,
  any_spelling boolean not null default false,
  declared text,
  stored_name text,
  stored_type text,
  stored_position int,
  primary key (organization_id, dataset, name),
  foreign key (organization_id, dataset) references datasets (organization_id, name)
);
comment on table dataset_columns is 'Columns of a dataset. Columns are only added. Their types follow dataset_statistics unless a user declares them.';
comment on column dataset_columns.keys is 'Spellings of the top-level key. The engine''s column names are case-insensitive.';
comment on column dataset_columns.nested is 'JSON of the known paths inside the objects of the column.';
comment on column dataset_columns.open is 'True if the objects have more keys than nested lists.';
comment on column dataset_columns.mixed is 'True if the column has had values that do not fit its type.';
comment on column dataset_columns.any_spelling is 'True if the key has more spellings than keys lists.';
comment on column dataset_columns.declared is 'Type that a user declared. Null if the type follows the data.';
comment on column dataset_columns.stored_name is 'Name of the column in Parquet files. Null as long as no file has the column.';
comment on column dataset_columns.stored_type is 'Type of the column in Parquet files. Never changes, unlike type, so that all files agree.';
comment on column dataset_columns.stored_position is 'Place in the order in which columns were first stored. A file has the first ones of this order.';
create unique index on dataset_columns (organization_id, dataset, stored_position) where stored_position is not null;
select tocsin_protect('dataset_columns');

create table dataset_statistics (
  organization_id uuid not null,
  dataset text not null,
  columns text not null,
  primary key (organization_id, dataset),
  foreign key (organization_id, dataset) references datasets (organization_id, name)
);
comment on table dataset_statistics is 'What the values of a dataset''s columns have been. Updated with every batch, unlike dataset_columns.';
comment on column dataset_statistics.columns is 'JSON list of columns with their number of values by type and their latest values of another type.';
select tocsin_protect('dataset_statistics');

create table dataset_hours (
  organization_id uuid not null,
  dataset text not null,
  hour timestamptz not null,
  events bigint not null,
  primary key (organization_id, dataset, hour),
  foreign key (organization_id, dataset) references datasets (organization_id, name)
);
comment on table dataset_hours is 'Number of events by hour of arrival, without history. Kept for 17 days.';
select tocsin_protect('dataset_hours');

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

create table dataset_health (
  organization_id uuid not null,
  dataset text not null,
  checked_until timestamptz not null,
  since timestamptz,
  hours int,
  events bigint,
  expected bigint,
  primary key (organization_id, dataset),
  foreign key (organization_id, dataset) references datasets (organization_id, name)
);
comment on table dataset_health is 'Whether a dataset receives as much as usual.';
comment on column dataset_health.checked_until is 'End of the last hour that was compared with earlier days.';
comment on column dataset_health.since is 'Start of the shortfall. Null, like the columns after it, if the dataset receives as much as usual.';
comment on column dataset_health.hours is 'Length of the span in which the shortfall was noticed.';
comment on column dataset_health.expected is 'The least that arrived in the same hours of an earlier day.';
select tocsin_protect('dataset_health');

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
comment on table log_batches is 'Received batches. A body that is sent again within 24 hours is recognized by its hash.';
comment on column log_batches.body_hash is 'Hash of the uncompressed body and its options.';
comment on column log_batches.history is 'True for past events, which are not part of scheduled windows.';
create index on log_batches (organization_id, dataset, body_hash, received_at desc);
select tocsin_protect('log_batches');

create table log_event_ids (
  organization_id uuid not null references organizations (id),
  id_hash uuid not null,
  received_at timestamptz not null default now(),
  primary key (organization_id, id_hash)
);
comment on table log_event_ids is 'IDs that shippers gave their events in the last 24 hours. An event whose ID is listed is not stored again.';
comment on column log_event_ids.id_hash is 'The first 128 bits of the SHA-256 of dataset and ID.';
create index on log_event_ids using brin (received_at);
select tocsin_protect('log_event_ids');

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
  sha256 text,
  columns int not null default 0,
  drift text,
  created_at timestamptz not null,
  replaced_at timestamptz,
  published boolean not null default false,
  primary key (organization_id, id),
  foreign key (organization_id, dataset) references datasets (organization_id, name)
);
comment on table segments is 'Files of the log store. A file that is not listed does not exist for queries and is removed later.';
comment on column segments.format is 'text (one batch) or typed (compacted batches, a Parquet file with typed columns).';
comment on column segments.history is 'True for past events, which are not part of scheduled windows.';
comment on column segments.ingested_from is 'Earliest publication time of its rows.';
comment on column segments.time_from is 'Earliest event time of its rows.';
comment on column segments.sha256 is 'Hash of the file in hexadecimal. Null if the file is in a folder and not in object storage.';
comment on column segments.columns is 'Number of columns of events in a Parquet file. In a typed one the first ones by stored_position, at most 200. 0 for text.';
comment on column segments.drift is 'JSON of the number of values that did not fit their column, by column. Null without such values.';
comment on column segments.replaced_at is 'When compaction replaced the file. It is removed once no query can still be reading it.';
comment on column segments.published is 'True if the file lies in the layout for other engines, below dataset=….';
create index on segments (organization_id, dataset, ingested_to) where replaced_at is null;
create index on segments (organization_id, dataset, time_to) where replaced_at is null;
create index on segments (organization_id, dataset, ingested_from) where replaced_at is null and not published;
create index on segments (replaced_at) where replaced_at is not null;
select tocsin_protect('segments');

-- Other engines read published files by a list of them. See docs/operate/parquet.md.
create table dataset_manifests (
  organization_id uuid not null,
  dataset text not null,
  version bigint not null default 1,
  written_version bigint not null default 0,
  primary key (organization_id, dataset),
  foreign key (organization_id, dataset) references datasets (organization_id, name)
);
comment on table dataset_manifests is 'Lists of published files that other engines read: the file _manifest.json of each dataset.';
comment on column dataset_manifests.version is 'Incremented whenever the published files of the dataset change.';
comment on column dataset_manifests.written_version is 'Version that the file in the store has.';
create index on dataset_manifests (organization_id, dataset) where version <> written_version;
select tocsin_protect('dataset_manifests');

create function tocsin_note_published() returns trigger language plpgsql as $$
begin
  insert into dataset_manifests as m (organization_id, dataset)
  select distinct organization_id, dataset from changed where published order by 1, 2
  on conflict (organization_id, dataset) do update set version = m.version + 1;
  return null;
end $$;
comment on function tocsin_note_published() is 'Increments the version of the manifests whose published files change.';
create trigger note_published after insert on segments referencing new table as changed for each statement execute function tocsin_note_published();
create trigger note_replaced after update on segments referencing new table as changed for each statement execute function tocsin_note_published();

create table log_folders (
  organization_id uuid not null references organizations (id),
  name text not null,
  lease_until timestamptz,
  primary key (organization_id, name)
);
comment on table log_folders is 'Folders of log files that are pulled, by their name in TOCSIN_LOG_FOLDERS.';
comment on column log_folders.lease_until is 'Until when one process reads the folder, by the clock of the database.';
select tocsin_protect('log_folders');

create table log_folder_objects (
  organization_id uuid not null,
  folder text not null,
  object_key text not null,
  version text not null,
  modified_at timestamptz not null,
  problem text,
  primary key (organization_id, folder, object_key),
  foreign key (organization_id, folder) references log_folders (organization_id, name)
);
comment on table log_folder_objects is 'Objects that were read from a folder, as long as it is searched for objects of their age.';
comment on column log_folder_objects.version is 'What identifies the content: the entity tag, or the size and time of a file.';
comment on column log_folder_objects.problem is 'Why no events of the object were stored, if they could not be.';
select tocsin_protect('log_folder_objects');

create table log_store (
  one boolean primary key default true check (one),
  directory_id uuid
);
comment on table log_store is 'The data directory that holds the log files of this installation. It has exactly one row.';
comment on column log_store.directory_id is 'The content of logs/directory-id in that directory. Null until a process has started with one.';
alter table log_store enable row level security;
create policy read on log_store for select to tocsin_app, tocsin_system using (true);
create policy claim on log_store for update to tocsin_system using (true);
grant select, update on log_store to tocsin_system;
insert into log_store default values;
