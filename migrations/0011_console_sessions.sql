-- Sign-ins to the console. A session is a key's (or a person's) access for a browser, which never keeps the key itself.

create table console_sessions (
  id uuid primary key,
  organization_id uuid not null references organizations (id),
  token_hash bytea not null unique,
  key_id text,
  subject text not null,
  scopes text[] not null,
  created_at timestamptz not null,
  last_seen_at timestamptz not null,
  expires_at timestamptz not null,
  ended_at timestamptz,
  foreign key (organization_id, key_id) references api_keys (organization_id, id) on delete cascade
);
comment on table console_sessions is 'Sessions of browsers that signed in to the console. Written by src/platform/orgs/sessions.';
comment on column console_sessions.token_hash is 'SHA-256 of the token in the cookie. The token itself is not stored.';
comment on column console_sessions.key_id is 'Key that signed in. The session has its scopes and ends with it. Null for a sign-in link or an identity provider.';
comment on column console_sessions.subject is 'Who signed in, as shown to people: the name of the key, or an e-mail address.';
comment on column console_sessions.scopes is 'Scopes of a session without a key.';
comment on column console_sessions.expires_at is 'When the session ends even if it is used until then.';
create index on console_sessions (organization_id, created_at desc, id desc);
select tocsin_protect('console_sessions');

create table sign_in_links (
  token_hash bytea primary key,
  organization_id uuid not null references organizations (id),
  scopes text[] not null,
  expires_at timestamptz not null
);
comment on table sign_in_links is 'Links that sign in once, printed when the service starts. A link is deleted when it is used.';
select tocsin_protect('sign_in_links');
