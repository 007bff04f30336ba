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
