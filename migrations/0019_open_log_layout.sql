-- Compacted log files in a layout that other engines read. See docs/operate/parquet.md.

alter table dataset_columns
  add stored_name text,
  add stored_type text,
  add stored_position int;
comment on column dataset_columns.stored_name is 'Name of the column in Parquet files. Null as long as no file has the column.';
comment on column dataset_columns.stored_type is 'Type of the column in Parquet files. Never changes, unlike type, so that all files agree.';
comment on column dataset_columns.stored_position is 'Place in the order in which columns were first stored. A file has the first ones of this order.';
create unique index on dataset_columns (organization_id, dataset, stored_position) where stored_position is not null;

alter table segments add published boolean not null default false;
comment on column segments.published is 'True if the file lies in the layout for other engines, below dataset=….';
comment on column segments.format is 'text (one batch), typed (compacted batches, a Parquet file with typed columns) or parquet (compacted by an earlier version, a Parquet file with texts).';
comment on column segments.columns is 'Number of columns of events in a Parquet file. In a typed one the first ones by stored_position, at most 200. 0 for text.';
create index on segments (organization_id, dataset, ingested_from) where replaced_at is null and not published;

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
