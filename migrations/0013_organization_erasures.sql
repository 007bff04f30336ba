create table organization_erasures (
  id uuid primary key,
  name text not null,
  requested_at timestamptz not null,
  finished_at timestamptz,
  row_counts jsonb not null default '{}',
  files int not null default 0,
  bytes bigint not null default 0,
  audit_sequence bigint,
  audit_hash bytea
);
comment on table organization_erasures is 'Organizations that were or are being deleted, with what was erased. They outlive the organization.';
comment on column organization_erasures.id is 'ID of the organization.';
comment on column organization_erasures.row_counts is 'Number of deleted rows by table.';
comment on column organization_erasures.files is 'Number of deleted log files.';
comment on column organization_erasures.bytes is 'Size of the log files that the database listed.';
comment on column organization_erasures.audit_hash is 'Hash of the last entry of the organization''s audit log, by which a note of it can be recognized.';
-- No organization sees it.
alter table organization_erasures enable row level security;
alter table organization_erasures force row level security;
create policy every on organization_erasures to tocsin_system using (true) with check (true);
grant select, insert, update on organization_erasures to tocsin_system;
