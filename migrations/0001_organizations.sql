-- Organizations, their API keys and sessions, and the audit log, and the functions that put tables under row-level security and create monthly
-- partitions.
--
-- Every statement of the program runs as one of two roles: tocsin_app (one organization) or tocsin_system (all organizations).
-- Both are subject to row-level security and own nothing. The program creates them before the first migration, because a managed
-- server may forbid it; the error message then lists the statements for an administrator to run.

-- Row-level security -----------------------------------------------------------------------------------------------------------------

create function tocsin_org() returns uuid language sql stable parallel safe as
$$ select nullif(current_setting('tocsin.org', true), '')::uuid $$;
comment on function tocsin_org() is
  'Returns the organization of the current transaction (setting tocsin.org), or null if none is set.';

create function tocsin_protect(name regclass) returns void language plpgsql as $$
begin
  execute format('alter table %s enable row level security', name);
  execute format('alter table %s force row level security', name);
  execute format('create policy own on %s to tocsin_app using (organization_id = (select tocsin_org())) with check (organization_id = (select tocsin_org()))', name);
  execute format('create policy every on %s to tocsin_system using (true) with check (true)', name);
  execute format('grant select, insert, update, delete on %s to tocsin_app, tocsin_system', name);
end $$;
comment on function tocsin_protect(regclass) is
  'Puts a table with an organization_id column under row-level security: tocsin_app sees and writes the rows of its organization, tocsin_system all rows.';

-- Partitions -------------------------------------------------------------------------------------------------------------------------

-- Each partitioned table also has a default partition for rows outside these months (replayed old logs, a clock far in the future).
create function tocsin_partition_months(parent text, first date, months int) returns void language plpgsql as $$
declare
  month date := date_trunc('month', first);
  child text;
begin
  for i in 0 .. months loop
    child := parent || '_' || to_char(month, 'YYYYMM');
    if to_regclass(child) is null then
      begin
        execute format('create table %I partition of %I for values from (%L) to (%L)', child, parent,
          to_char(month, 'YYYY-MM-DD') || 'T00:00:00Z', to_char(month + interval '1 month', 'YYYY-MM-DD') || 'T00:00:00Z');
      exception when check_violation then null; -- The default partition already contains rows of that month. They stay there.
      end;
    end if;
    month := month + interval '1 month';
  end loop;
end $$;
comment on function tocsin_partition_months(text, date, int) is
  'Creates the missing monthly partitions of a table, from the month of the given date through the given number of months after it.';

-- Organizations ----------------------------------------------------------------------------------------------------------------------

create table organizations (
  id uuid primary key,
  name text not null unique,
  tags text[] not null default '{}',
  created_at timestamptz not null default now(),
  listening_until timestamptz,
  suspended_at timestamptz,
  suspended_by text
);
comment on table organizations is 'Tenants. Every other tenant row carries the id of its organization.';
comment on column organizations.tags is 'Tags that the operator chose, sorted. Detection packs select organizations by them.';
comment on column organizations.suspended_at is 'Since when requests of the organization are refused and its schedules wait. Null if they are not.';
comment on column organizations.suspended_by is 'Who suspended the organization: a key of the installation by its fingerprint, or a command with its machine. Null if it is not suspended.';
comment on column organizations.listening_until is 'Until when all events are stored because a client listens, by the clock of the database. Null if none ever did.';

-- Not tocsin_protect: the key column is id, and an organization may only read its own row.
alter table organizations enable row level security;
alter table organizations force row level security;
create policy own on organizations to tocsin_app using (id = (select tocsin_org()));
create policy every on organizations to tocsin_system using (true) with check (true);
grant select on organizations to tocsin_app;
grant select, insert, update, delete on organizations to tocsin_system;

create table api_keys (
  id text primary key,
  organization_id uuid not null references organizations (id),
  name text not null,
  secret_hash bytea not null,
  previous_secret_hash bytea,
  previous_until timestamptz,
  scopes text[] not null,
  from_environment boolean not null default false,
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  revoked_at timestamptz,
  unique (organization_id, id)
);
comment on table api_keys is 'API keys. Only hashes of the secrets are stored.';
comment on column api_keys.previous_secret_hash is 'Hash of the secret before the last rotation, accepted until previous_until.';
comment on column api_keys.from_environment is 'True for the key that the service created from its environment variables.';
create index on api_keys (organization_id, created_at desc, id);
create unique index one_environment_key on api_keys (from_environment) where from_environment and revoked_at is null;
select tocsin_protect('api_keys');

-- Persons ----------------------------------------------------------------------------------------------------------------------------

create table persons (
  organization_id uuid not null references organizations (id),
  id uuid not null,
  name text not null,
  role text check (role in ('viewer', 'analyst', 'engineer', 'administrator')),
  scopes text[],
  issuer text,
  issuer_subject text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  signed_in_at timestamptz,
  disabled_at timestamptz,
  primary key (organization_id, id),
  unique (organization_id, issuer, issuer_subject),
  check ((role is null) = (scopes is not null)),
  check ((role is null) = (issuer is not null and issuer_subject is not null))
);
comment on table persons is 'People of an organization, who come from single sign-on or were invited. Written by src/platform/orgs/sessions.';
comment on column persons.name is 'E-mail address or user name. Two persons may have the same one.';
comment on column persons.role is 'Role of an invited person. Null for single sign-on, where groups decide.';
comment on column persons.scopes is 'What the groups of the person gave at the last sign-in. Null for an invited person.';
comment on column persons.issuer is 'Identity provider of the person, to which issuer_subject is the person. Null for an invited person.';
comment on column persons.disabled_at is 'Since when the person cannot sign in. Null if the person can.';
create index on persons (organization_id, created_at desc, id desc);
create index on persons (organization_id, lower(name));
select tocsin_protect('persons');

-- Sessions ---------------------------------------------------------------------------------------------------------------------------

-- A session is the access of a key or a person for a browser, which never keeps the key itself.
create table console_sessions (
  id uuid primary key,
  organization_id uuid not null references organizations (id),
  token_hash bytea not null unique,
  key_id text,
  person_id uuid,
  subject text not null,
  scopes text[] not null,
  created_at timestamptz not null,
  last_seen_at timestamptz not null,
  expires_at timestamptz not null,
  credential_expires_at timestamptz,
  ended_at timestamptz,
  foreign key (organization_id, key_id) references api_keys (organization_id, id) on delete cascade,
  foreign key (organization_id, person_id) references persons (organization_id, id)
);
comment on table console_sessions is 'Sessions of browsers that signed in to the console. Written by src/platform/orgs/sessions.';
comment on column console_sessions.token_hash is 'SHA-256 of the token in the cookie. The token itself is not stored.';
comment on column console_sessions.key_id is 'Key that signed in. The session has its scopes and ends with it. Null for a sign-in link or an identity provider.';
comment on column console_sessions.person_id is 'Person who signed in. Null for a key, and for the link that the service prints.';
comment on column console_sessions.subject is 'Who signed in, as shown to people: the name of the key, or an e-mail address.';
comment on column console_sessions.scopes is 'Scopes of a session without a key.';
comment on column console_sessions.expires_at is 'When the session ends even if it is used until then.';
comment on column console_sessions.credential_expires_at is 'When the credential that signed in ends: keys that the session creates end no later. Null: never.';
create index on console_sessions (organization_id, created_at desc, id desc);
create index on console_sessions (organization_id, person_id) where person_id is not null;
select tocsin_protect('console_sessions');

create table sign_in_links (
  token_hash bytea primary key,
  organization_id uuid not null references organizations (id),
  person_id uuid,
  scopes text[] not null,
  expires_at timestamptz not null,
  foreign key (organization_id, person_id) references persons (organization_id, id)
);
comment on table sign_in_links is 'Links that sign in once: printed when the service starts, or for an invited person. A link is deleted when it is used.';
comment on column sign_in_links.person_id is 'Invited person whom the link signs in, whose scopes count. Null for a link that the service printed.';
create index on sign_in_links (organization_id, person_id) where person_id is not null;
select tocsin_protect('sign_in_links');

-- Audit log --------------------------------------------------------------------------------------------------------------------------

create table audit (
  organization_id uuid not null,
  id uuid not null,
  at timestamptz not null,
  key_id text,
  actor text,
  action text not null,
  resource_type text not null,
  resource_id text not null,
  before text,
  after text,
  sequence bigint,
  hash bytea,
  primary key (at, id)
) partition by range (at);
comment on table audit is 'Audit log of changes made through the API. Partitioned by month.';
comment on column audit.key_id is 'API key that made the change. Null for changes made by the service.';
comment on column audit.actor is 'Who signed in, if the change was made with a session: a person or the name of a key.';
comment on column audit.before is 'JSON of the resource before the change. Null if it was created.';
comment on column audit.after is 'JSON of the resource after the change. Null if it was deleted.';
comment on column audit.sequence is 'Position in the chain of the organization, assigned when the transaction commits.';
comment on column audit.hash is 'Hash of the entry and of the hash before it: tocsin_audit_hash.';
create index on audit (organization_id, at desc, id desc);
create index on audit (organization_id, sequence);
create table audit_default partition of audit default;
select tocsin_protect('audit');
select tocsin_partition_months('audit', current_date, 3);

create table audit_chains (
  organization_id uuid primary key,
  sequence bigint not null,
  hash bytea not null,
  expired_through bigint not null default 0,
  expired_hash bytea not null default ''
);
comment on table audit_chains is 'The newest entry of each organization''s audit log, and the newest one that retention deleted.';
comment on column audit_chains.expired_through is 'Sequence of the last deleted entry. 0 if none was deleted.';
comment on column audit_chains.expired_hash is 'Hash of the last deleted entry, from which the chain continues. Empty if none was deleted.';
select tocsin_protect('audit_chains');

-- A field's length before its value, so that no two entries have the same text. platform/orgs/audit/audit-chain.store.ts does the same.
create function tocsin_audit_hash(previous bytea, entry audit, place bigint) returns bytea language sql stable as $$
  select sha256(previous || convert_to(string_agg(coalesce(octet_length(field) || ':' || field, '-'), ',' order by n), 'UTF8'))
  from unnest(array[entry.organization_id::text, place::text, entry.id::text, (extract(epoch from entry.at) * 1000000)::bigint::text,
    entry.key_id, entry.actor, entry.action, entry.resource_type, entry.resource_id, entry.before, entry.after]) with ordinality as fields (field, n)
$$;
comment on function tocsin_audit_hash(bytea, audit, bigint) is 'Returns the hash of an audit entry at a place of the chain, after the previous hash.';

create function tocsin_chain_audit() returns trigger language plpgsql as $$
declare
  place bigint;
  digest bytea;
begin
  insert into audit_chains as chain (organization_id, sequence, hash) values (new.organization_id, 1, tocsin_audit_hash('', new, 1))
  on conflict (organization_id) do update
    set sequence = chain.sequence + 1, hash = tocsin_audit_hash(chain.hash, new, chain.sequence + 1)
  returning chain.sequence, chain.hash into place, digest;
  update audit set sequence = place, hash = digest where at = new.at and id = new.id;
  return null;
end $$;

-- At commit, when the transaction needs no other lock anymore: transactions of an organization wait for each other only while they commit.
create constraint trigger chain_audit after insert on audit deferrable initially deferred
  for each row when (new.sequence is null) execute function tocsin_chain_audit();

-- Requests and views -----------------------------------------------------------------------------------------------------------------

create table idempotency_keys (
  organization_id uuid references organizations (id),
  key_id text not null,
  route text not null,
  idempotency_key text not null,
  body_hash bytea not null,
  status int,
  answer text,
  created_at timestamptz not null default now()
);
comment on table idempotency_keys is 'Responses to requests that carried an Idempotency-Key header, replayed when the request is repeated.';
comment on column idempotency_keys.organization_id is 'Organization of the key. Null if the key of the installation sent the request, which no organization sees.';
comment on column idempotency_keys.key_id is 'API key that sent the request, or the session if a browser without a key sent it.';
comment on column idempotency_keys.body_hash is 'Hash of the request body. The same idempotency key with another body is rejected.';
comment on column idempotency_keys.status is 'HTTP status of the response. Null while the first request is in progress.';
comment on column idempotency_keys.answer is 'Response body.';
create unique index on idempotency_keys (organization_id, key_id, route, idempotency_key) nulls not distinct;
create index on idempotency_keys (created_at);
select tocsin_protect('idempotency_keys');

create table saved_views (
  organization_id uuid not null references organizations (id),
  id uuid not null,
  name text not null,
  page text not null,
  query text not null,
  key_id text,
  actor text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (organization_id, id)
);
comment on table saved_views is 'Named filters of lists, shared by the organization.';
comment on column saved_views.page is 'Page or list that the view belongs to.';
comment on column saved_views.query is 'State of the page. Only clients read it.';
comment on column saved_views.key_id is 'API key that created the view.';
comment on column saved_views.actor is 'Person or key that signed in, if the view was created with a session.';
create index on saved_views (organization_id, created_at desc, id desc);
select tocsin_protect('saved_views');
