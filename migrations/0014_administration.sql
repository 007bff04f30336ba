-- Responses to requests of the operator, who belongs to no organization.
alter table idempotency_keys drop constraint idempotency_keys_pkey;
alter table idempotency_keys alter column organization_id drop not null;
create unique index on idempotency_keys (organization_id, key_id, route, idempotency_key) nulls not distinct;
comment on column idempotency_keys.organization_id is 'Organization of the key. Null if the key of the installation sent the request, which no organization sees.';

create table organization_erasure_files (
  erasure_id uuid not null references organization_erasures (id),
  path text not null,
  primary key (erasure_id, path)
);
comment on table organization_erasure_files is 'Log files that a running erasure deletes. Noted before they are deleted, so that each is counted once, also after an interruption.';
alter table organization_erasure_files enable row level security;
alter table organization_erasure_files force row level security;
create policy every on organization_erasure_files to tocsin_system using (true) with check (true);
grant select, insert, delete on organization_erasure_files to tocsin_system;

-- Who did what to an organization: a key of the installation by its fingerprint, or a command with its machine.
alter table organizations add column suspended_by text;
comment on column organizations.suspended_by is 'Who suspended the organization. Null if it is not suspended.';
alter table organization_erasures
  add column requested_by text,
  add column suspended_at timestamptz,
  add column suspended_by text,
  add column failures int not null default 0,
  add column error text;
comment on column organization_erasures.requested_by is 'Who requested the deletion.';
comment on column organization_erasures.suspended_by is 'Who had suspended the organization.';
comment on column organization_erasures.failures is 'Number of attempts that failed.';
comment on column organization_erasures.error is 'Message of the last failed attempt. Null if the erasure has finished.';
create index on organization_erasures (requested_at) where finished_at is null;
