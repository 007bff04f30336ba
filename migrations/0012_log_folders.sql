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
