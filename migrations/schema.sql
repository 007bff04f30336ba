-- The schema of a new database, as PostgreSQL describes it: each table with its columns, constraints, indexes, policies, triggers and grants, in the
-- order in which the migrations create them, then the functions. For readers only. `npm run schema` writes it, and a test compares it with the
-- migrations. Left out: monthly partitions, and the rows that the migrations insert.

create table migrations (
  name text not null,
  sha256 text not null,
  applied_at timestamp with time zone not null default now(),
  constraint migrations_pkey PRIMARY KEY (name)
);
grant select on migrations to tocsin_system;

-- Tenants. Every other tenant row carries the id of its organization.
create table organizations (
  id uuid not null,
  name text not null,
  tags text[] not null default '{}'::text[], -- Tags that the operator chose, sorted. Detection packs select organizations by them.
  created_at timestamp with time zone not null default now(),
  listening_until timestamp with time zone, -- Until when all events are stored because a client listens, by the clock of the database. Null if none ever did.
  suspended_at timestamp with time zone, -- Since when requests of the organization are refused and its schedules wait. Null if they are not.
  suspended_by text, -- Who suspended the organization: a key of the installation by its fingerprint, or a command with its machine. Null if it is not suspended.
  constraint organizations_pkey PRIMARY KEY (id),
  constraint organizations_name_key UNIQUE (name)
);
alter table organizations enable row level security;
alter table organizations force row level security;
create policy every on organizations to tocsin_system using (true) with check (true);
create policy own on organizations to tocsin_app using ((id = ( SELECT tocsin_org() AS tocsin_org)));
grant select on organizations to tocsin_app;
grant select, insert, update, delete on organizations to tocsin_system;

-- API keys. Only hashes of the secrets are stored.
create table api_keys (
  id text not null,
  organization_id uuid not null,
  name text not null,
  secret_hash bytea not null,
  previous_secret_hash bytea, -- Hash of the secret before the last rotation, accepted until previous_until.
  previous_until timestamp with time zone,
  scopes text[] not null,
  from_environment boolean not null default false, -- True for the key that the service created from its environment variables.
  created_at timestamp with time zone not null default now(),
  expires_at timestamp with time zone,
  revoked_at timestamp with time zone,
  constraint api_keys_pkey PRIMARY KEY (id),
  constraint api_keys_organization_id_id_key UNIQUE (organization_id, id),
  constraint api_keys_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id)
);
CREATE INDEX api_keys_organization_id_created_at_id_idx ON api_keys USING btree (organization_id, created_at DESC, id);
CREATE UNIQUE INDEX one_environment_key ON api_keys USING btree (from_environment) WHERE from_environment AND revoked_at IS NULL;
alter table api_keys enable row level security;
alter table api_keys force row level security;
create policy every on api_keys to tocsin_system using (true) with check (true);
create policy own on api_keys to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on api_keys to tocsin_app, tocsin_system;

-- People of an organization, who come from single sign-on or were invited. Written by src/platform/orgs/sessions.
create table persons (
  organization_id uuid not null,
  id uuid not null,
  name text not null, -- E-mail address or user name. Two persons may have the same one.
  role text, -- Role of an invited person. Null for single sign-on, where groups decide.
  scopes text[], -- What the groups of the person gave at the last sign-in. Null for an invited person.
  issuer text, -- Identity provider of the person, to which issuer_subject is the person. Null for an invited person.
  issuer_subject text,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  signed_in_at timestamp with time zone,
  disabled_at timestamp with time zone, -- Since when the person cannot sign in. Null if the person can.
  constraint persons_pkey PRIMARY KEY (organization_id, id),
  constraint persons_organization_id_issuer_issuer_subject_key UNIQUE (organization_id, issuer, issuer_subject),
  constraint persons_check CHECK ((role IS NULL) = (scopes IS NOT NULL)),
  constraint persons_check1 CHECK ((role IS NULL) = (issuer IS NOT NULL AND issuer_subject IS NOT NULL)),
  constraint persons_role_check CHECK (role = ANY (ARRAY['viewer'::text, 'analyst'::text, 'engineer'::text, 'administrator'::text])),
  constraint persons_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id)
);
CREATE INDEX persons_organization_id_created_at_id_idx ON persons USING btree (organization_id, created_at DESC, id DESC);
CREATE INDEX persons_organization_id_lower_idx ON persons USING btree (organization_id, lower(name));
alter table persons enable row level security;
alter table persons force row level security;
create policy every on persons to tocsin_system using (true) with check (true);
create policy own on persons to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on persons to tocsin_app, tocsin_system;

-- Sessions of browsers that signed in to the console. Written by src/platform/orgs/sessions.
create table console_sessions (
  id uuid not null,
  organization_id uuid not null,
  token_hash bytea not null, -- SHA-256 of the token in the cookie. The token itself is not stored.
  key_id text, -- Key that signed in. The session has its scopes and ends with it. Null for a sign-in link or an identity provider.
  person_id uuid, -- Person who signed in. Null for a key, and for the link that the service prints.
  subject text not null, -- Who signed in, as shown to people: the name of the key, or an e-mail address.
  scopes text[] not null, -- Scopes of a session without a key.
  created_at timestamp with time zone not null,
  last_seen_at timestamp with time zone not null,
  expires_at timestamp with time zone not null, -- When the session ends even if it is used until then.
  credential_expires_at timestamp with time zone, -- When the credential that signed in ends: keys that the session creates end no later. Null: never.
  ended_at timestamp with time zone,
  constraint console_sessions_pkey PRIMARY KEY (id),
  constraint console_sessions_token_hash_key UNIQUE (token_hash),
  constraint console_sessions_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  constraint console_sessions_organization_id_key_id_fkey FOREIGN KEY (organization_id, key_id) REFERENCES api_keys(organization_id, id) ON DELETE CASCADE,
  constraint console_sessions_organization_id_person_id_fkey FOREIGN KEY (organization_id, person_id) REFERENCES persons(organization_id, id)
);
CREATE INDEX console_sessions_organization_id_created_at_id_idx ON console_sessions USING btree (organization_id, created_at DESC, id DESC);
CREATE INDEX console_sessions_organization_id_person_id_idx ON console_sessions USING btree (organization_id, person_id) WHERE person_id IS NOT NULL;
alter table console_sessions enable row level security;
alter table console_sessions force row level security;
create policy every on console_sessions to tocsin_system using (true) with check (true);
create policy own on console_sessions to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on console_sessions to tocsin_app, tocsin_system;

-- Links that sign in once: printed when the service starts, or for an invited person. A link is deleted when it is used.
create table sign_in_links (
  token_hash bytea not null,
  organization_id uuid not null,
  person_id uuid, -- Invited person whom the link signs in, whose scopes count. Null for a link that the service printed.
  scopes text[] not null,
  expires_at timestamp with time zone not null,
  constraint sign_in_links_pkey PRIMARY KEY (token_hash),
  constraint sign_in_links_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  constraint sign_in_links_organization_id_person_id_fkey FOREIGN KEY (organization_id, person_id) REFERENCES persons(organization_id, id)
);
CREATE INDEX sign_in_links_organization_id_person_id_idx ON sign_in_links USING btree (organization_id, person_id) WHERE person_id IS NOT NULL;
alter table sign_in_links enable row level security;
alter table sign_in_links force row level security;
create policy every on sign_in_links to tocsin_system using (true) with check (true);
create policy own on sign_in_links to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on sign_in_links to tocsin_app, tocsin_system;

-- Audit log of changes made through the API. Partitioned by month.
create table audit (
  organization_id uuid not null,
  id uuid not null,
  at timestamp with time zone not null,
  key_id text, -- API key that made the change. Null for changes made by the service.
  actor text, -- Who signed in, if the change was made with a session: a person or the name of a key.
  action text not null,
  resource_type text not null,
  resource_id text not null,
  before text, -- JSON of the resource before the change. Null if it was created.
  after text, -- JSON of the resource after the change. Null if it was deleted.
  sequence bigint, -- Position in the chain of the organization, assigned when the transaction commits.
  hash bytea, -- Hash of the entry and of the hash before it: tocsin_audit_hash.
  constraint audit_pkey PRIMARY KEY (at, id)
) partition by RANGE (at);
create table audit_default partition of audit DEFAULT;
CREATE INDEX audit_organization_id_at_id_idx ON ONLY audit USING btree (organization_id, at DESC, id DESC);
CREATE INDEX audit_organization_id_sequence_idx ON ONLY audit USING btree (organization_id, sequence);
alter table audit enable row level security;
alter table audit force row level security;
create policy every on audit to tocsin_system using (true) with check (true);
create policy own on audit to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
CREATE CONSTRAINT TRIGGER chain_audit AFTER INSERT ON audit DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (new.sequence IS NULL) EXECUTE FUNCTION tocsin_chain_audit();
grant select, insert, update, delete on audit to tocsin_app, tocsin_system;

-- The newest entry of each organization's audit log, and the newest one that retention deleted.
create table audit_chains (
  organization_id uuid not null,
  sequence bigint not null,
  hash bytea not null,
  expired_through bigint not null default 0, -- Sequence of the last deleted entry. 0 if none was deleted.
  expired_hash bytea not null default '\x'::bytea, -- Hash of the last deleted entry, from which the chain continues. Empty if none was deleted.
  constraint audit_chains_pkey PRIMARY KEY (organization_id)
);
alter table audit_chains enable row level security;
alter table audit_chains force row level security;
create policy every on audit_chains to tocsin_system using (true) with check (true);
create policy own on audit_chains to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on audit_chains to tocsin_app, tocsin_system;

-- Responses to requests that carried an Idempotency-Key header, replayed when the request is repeated.
create table idempotency_keys (
  organization_id uuid, -- Organization of the key. Null if the key of the installation sent the request, which no organization sees.
  key_id text not null, -- API key that sent the request, or the session if a browser without a key sent it.
  route text not null,
  idempotency_key text not null,
  body_hash bytea not null, -- Hash of the request body. The same idempotency key with another body is rejected.
  status integer, -- HTTP status of the response. Null while the first request is in progress.
  answer text, -- Response body.
  created_at timestamp with time zone not null default now(),
  constraint idempotency_keys_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id)
);
CREATE INDEX idempotency_keys_created_at_idx ON idempotency_keys USING btree (created_at);
CREATE UNIQUE INDEX idempotency_keys_organization_id_key_id_route_idempotency_k_idx ON idempotency_keys USING btree (organization_id, key_id, route, idempotency_key) NULLS NOT DISTINCT;
alter table idempotency_keys enable row level security;
alter table idempotency_keys force row level security;
create policy every on idempotency_keys to tocsin_system using (true) with check (true);
create policy own on idempotency_keys to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on idempotency_keys to tocsin_app, tocsin_system;

-- Named filters of lists, shared by the organization.
create table saved_views (
  organization_id uuid not null,
  id uuid not null,
  name text not null,
  page text not null, -- Page or list that the view belongs to.
  query text not null, -- State of the page. Only clients read it.
  key_id text, -- API key that created the view.
  actor text, -- Person or key that signed in, if the view was created with a session.
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint saved_views_pkey PRIMARY KEY (organization_id, id),
  constraint saved_views_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id)
);
CREATE INDEX saved_views_organization_id_created_at_id_idx ON saved_views USING btree (organization_id, created_at DESC, id DESC);
alter table saved_views enable row level security;
alter table saved_views force row level security;
create policy every on saved_views to tocsin_system using (true) with check (true);
create policy own on saved_views to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on saved_views to tocsin_app, tocsin_system;

-- Quotas of organizations. Null is no limit, and so is a missing row.
create table organization_limits (
  organization_id uuid not null,
  enabled_detections integer,
  log_events_per_day bigint,
  log_bytes_per_day bigint, -- Size of the events as stored when they arrive, uncompressed.
  log_bytes_stored bigint, -- Size of the log files, compressed.
  feed_sources integer,
  feed_items integer, -- Items of the private pool that are not retracted.
  api_keys integer,
  requests_per_minute integer,
  model_usd_per_day numeric(16,8), -- Cost of all models together by UTC day.
  model_usd_per_month numeric(16,8),
  observation_bytes_per_day bigint, -- Size of the results of tools that investigations store on a UTC day.
  updated_at timestamp with time zone not null,
  checked_at timestamp with time zone, -- When the use of the quotas was last compared with them. Null after a change.
  constraint organization_limits_pkey PRIMARY KEY (organization_id),
  constraint organization_limits_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id)
);
CREATE INDEX organization_limits_checked_at_idx ON organization_limits USING btree (checked_at NULLS FIRST);
alter table organization_limits enable row level security;
alter table organization_limits force row level security;
create policy every on organization_limits to tocsin_system using (true) with check (true);
create policy own on organization_limits for select to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select on organization_limits to tocsin_app;
grant select, insert, update, delete on organization_limits to tocsin_system;

-- Quotas that are nearly or completely used, as the last check found.
create table quota_alarms (
  organization_id uuid not null,
  quota text not null,
  level text not null, -- nearing (at least 80 percent) or reached.
  since timestamp with time zone not null,
  constraint quota_alarms_pkey PRIMARY KEY (organization_id, quota),
  constraint quota_alarms_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id)
);
alter table quota_alarms enable row level security;
alter table quota_alarms force row level security;
create policy every on quota_alarms to tocsin_system using (true) with check (true);
create policy own on quota_alarms to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on quota_alarms to tocsin_app, tocsin_system;

-- Use of the service by UTC day. Processes count in memory and add to it every few seconds, so that a crash loses the last of them.
create table usage_days (
  organization_id uuid not null,
  day date not null,
  requests bigint not null default 0, -- Requests with a valid key or session, including refused ones.
  refused_requests bigint not null default 0, -- Requests that were answered with 429.
  query_ms bigint not null default 0, -- Time that the queries of runs took.
  feed_items bigint not null default 0, -- Items that its sources added or corrected.
  log_bytes_stored bigint not null default 0, -- Size of the log files at the last measurement of the day.
  observation_bytes bigint not null default 0, -- Size of the results of tools that investigations stored, counted with each of them.
  logs_measured_at timestamp with time zone, -- When log_bytes_stored was measured. Null: not on this day.
  constraint usage_days_pkey PRIMARY KEY (organization_id, day),
  constraint usage_days_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id)
);
CREATE INDEX usage_days_day_idx ON usage_days USING btree (day);
alter table usage_days enable row level security;
alter table usage_days force row level security;
create policy every on usage_days to tocsin_system using (true) with check (true);
create policy own on usage_days to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on usage_days to tocsin_app, tocsin_system;

-- How long data of an organization is kept, where that differs from the settings of the service. A null maximum is the setting of the service, a null period is the maximum.
create table organization_retention (
  organization_id uuid not null,
  logs_days_max integer, -- Longest retention that the operator allows. It may be longer than the setting of the service.
  rows_days_max integer,
  hits_days_max integer,
  runs_days_max integer,
  logs_days integer, -- Retention that the organization chose. Without effect where it is longer than the maximum.
  rows_days integer,
  hits_days integer,
  runs_days integer,
  updated_at timestamp with time zone not null,
  constraint organization_retention_pkey PRIMARY KEY (organization_id),
  constraint organization_retention_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id)
);
alter table organization_retention enable row level security;
alter table organization_retention force row level security;
create policy every on organization_retention to tocsin_system using (true) with check (true);
create policy own on organization_retention to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on organization_retention to tocsin_app, tocsin_system;

-- Organizations that were or are being deleted, with what was erased. They outlive the organization.
create table organization_erasures (
  id uuid not null, -- ID of the organization.
  name text not null,
  requested_at timestamp with time zone not null,
  requested_by text, -- Who requested the deletion.
  suspended_at timestamp with time zone,
  suspended_by text, -- Who had suspended the organization.
  finished_at timestamp with time zone,
  failures integer not null default 0, -- Number of attempts that failed.
  error text, -- Message of the last failed attempt. Null if the erasure has finished.
  row_counts jsonb not null default '{}'::jsonb, -- Number of deleted rows by table.
  files integer not null default 0, -- Number of deleted log files.
  bytes bigint not null default 0, -- Size of the log files that the database listed.
  audit_sequence bigint,
  audit_hash bytea, -- Hash of the last entry of the organization's audit log, by which a note of it can be recognized.
  constraint organization_erasures_pkey PRIMARY KEY (id)
);
CREATE INDEX organization_erasures_requested_at_idx ON organization_erasures USING btree (requested_at) WHERE finished_at IS NULL;
alter table organization_erasures enable row level security;
alter table organization_erasures force row level security;
create policy every on organization_erasures to tocsin_system using (true) with check (true);
grant select, insert, update on organization_erasures to tocsin_system;

-- Log files that a running erasure deletes. Noted before they are deleted, so that each is counted once, also after an interruption.
create table organization_erasure_files (
  erasure_id uuid not null,
  path text not null,
  constraint organization_erasure_files_pkey PRIMARY KEY (erasure_id, path),
  constraint organization_erasure_files_erasure_id_fkey FOREIGN KEY (erasure_id) REFERENCES organization_erasures(id)
);
alter table organization_erasure_files enable row level security;
alter table organization_erasure_files force row level security;
create policy every on organization_erasure_files to tocsin_system using (true) with check (true);
grant select, insert, delete on organization_erasure_files to tocsin_system;

-- SIEM connections. The embedded log store has no row; its connection id is the id of the organization.
create table connections (
  organization_id uuid not null,
  id uuid not null,
  kind text not null,
  name text not null,
  settings text not null, -- JSON of the settings that the API may return.
  sealed bytea not null, -- Credentials, encrypted with TOCSIN_SECRET_KEY.
  clock text not null, -- Clock of the windows of scheduled runs: ingest (time of ingestion) or event (time of the event).
  delay_minutes integer not null, -- Time between the end of a window and its slot, so that late rows can arrive.
  recheck_minutes integer not null, -- Delay of the second examination of a window on event time, counted from its slot. 0 disables it.
  places integer not null, -- Maximum number of concurrent runs.
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint connections_pkey PRIMARY KEY (organization_id, id),
  constraint connections_clock_check CHECK (clock = ANY (ARRAY['ingest'::text, 'event'::text])),
  constraint connections_kind_check CHECK (kind <> 'local'::text),
  constraint connections_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id)
);
CREATE INDEX connections_organization_id_created_at_id_idx ON connections USING btree (organization_id, created_at DESC, id DESC);
alter table connections enable row level security;
alter table connections force row level security;
create policy every on connections to tocsin_system using (true) with check (true);
create policy own on connections to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on connections to tocsin_app, tocsin_system;

-- Connections that failed. Only manual runs query a paused connection until a health check succeeds.
create table connection_pauses (
  organization_id uuid not null,
  connection_id uuid not null,
  kind text not null, -- Kind of the failure.
  message text not null,
  query text, -- Query that failed. Null if the failure had another cause.
  since_at timestamp with time zone not null,
  check_at timestamp with time zone not null, -- Time of the next health check, by the clock of the database.
  constraint connection_pauses_pkey PRIMARY KEY (organization_id, connection_id),
  constraint connection_pauses_organization_id_connection_id_fkey FOREIGN KEY (organization_id, connection_id) REFERENCES connections(organization_id, id) ON DELETE CASCADE
);
CREATE INDEX connection_pauses_check_at_idx ON connection_pauses USING btree (check_at);
alter table connection_pauses enable row level security;
alter table connection_pauses force row level security;
create policy every on connection_pauses to tocsin_system using (true) with check (true);
create policy own on connection_pauses to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on connection_pauses to tocsin_app, tocsin_system;

-- MCP servers that an organization has added. They are reached by URL only, never started as a command.
create table mcp_servers (
  organization_id uuid not null,
  id uuid not null,
  name text not null,
  url text not null,
  sealed bytea not null, -- Request headers, encrypted with TOCSIN_SECRET_KEY.
  tools text[], -- Tools that detections may use. Null for all tools of the server.
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint mcp_servers_pkey PRIMARY KEY (organization_id, id),
  constraint mcp_servers_organization_id_name_key UNIQUE (organization_id, name),
  constraint mcp_servers_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id)
);
alter table mcp_servers enable row level security;
alter table mcp_servers force row level security;
create policy every on mcp_servers to tocsin_system using (true) with check (true);
create policy own on mcp_servers to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on mcp_servers to tocsin_app, tocsin_system;

-- Who is asked about addresses, domains and hashes of cases and indicators.
create table enrichers (
  organization_id uuid not null,
  id uuid not null,
  name text not null,
  kind text not null, -- A key of `enricherKinds`, which the service checks.
  settings text not null, -- JSON of the settings of the kind, without secrets.
  sealed bytea, -- Credentials, encrypted with TOCSIN_SECRET_KEY. Null: none.
  per_minute integer not null,
  per_day integer not null,
  cache_hours integer not null,
  cost_usd double precision not null, -- What a look-up costs.
  enabled boolean not null,
  minute timestamp with time zone,
  minute_used integer not null default 0, -- Look-ups in the minute that begins at `minute`.
  day date,
  day_used integer not null default 0, -- Look-ups of the day `day`, UTC.
  failure text, -- Why the last look-up got no answer. Null: it got one.
  updated_at timestamp with time zone not null,
  constraint enrichers_pkey PRIMARY KEY (organization_id, id),
  constraint enrichers_organization_id_name_key UNIQUE (organization_id, name),
  constraint enrichers_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id)
);
alter table enrichers enable row level security;
alter table enrichers force row level security;
create policy every on enrichers to tocsin_system using (true) with check (true);
create policy own on enrichers to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on enrichers to tocsin_app, tocsin_system;

-- Answers of enrichers that may be used again.
create table enrichments (
  organization_id uuid not null,
  enricher_id uuid not null,
  value text not null,
  fields text not null, -- JSON of what is known of the value. Empty: nothing, or the look-up failed.
  at timestamp with time zone not null,
  until timestamp with time zone not null, -- When the value is looked up again.
  constraint enrichments_pkey PRIMARY KEY (organization_id, enricher_id, value),
  constraint enrichments_organization_id_enricher_id_fkey FOREIGN KEY (organization_id, enricher_id) REFERENCES enrichers(organization_id, id) ON DELETE CASCADE
);
alter table enrichments enable row level security;
alter table enrichments force row level security;
create policy every on enrichments to tocsin_system using (true) with check (true);
create policy own on enrichments to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on enrichments to tocsin_app, tocsin_system;

-- Tokens and cost by detection, model alias and day. Daily and monthly budgets are checked against it.
create table model_usage (
  organization_id uuid not null,
  detection_id uuid not null,
  alias text not null,
  day date not null, -- UTC day of slot time.
  calls integer not null default 0,
  tokens bigint not null default 0,
  cost_usd numeric(16,8) default 0, -- Null once the alias was used without a price.
  constraint model_usage_pkey PRIMARY KEY (organization_id, detection_id, alias, day)
);
CREATE INDEX model_usage_organization_id_alias_day_idx ON model_usage USING btree (organization_id, alias, day);
CREATE INDEX model_usage_organization_id_day_idx ON model_usage USING btree (organization_id, day);
alter table model_usage enable row level security;
alter table model_usage force row level security;
create policy every on model_usage to tocsin_system using (true) with check (true);
create policy own on model_usage to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on model_usage to tocsin_app, tocsin_system;

-- Upper bound of what model calls in progress may still spend, so that concurrent calls do not exceed a budget together.
create table model_reservations (
  organization_id uuid not null,
  run_id uuid not null,
  conversation uuid not null, -- Conversation of the run that makes the call. A conversation has at most one call in progress.
  detection_id uuid not null,
  alias text not null,
  tokens bigint not null,
  cost_usd numeric(16,8) not null,
  until_at timestamp with time zone not null, -- When the reservation of a lost worker expires, by the clock of the database.
  constraint model_reservations_pkey PRIMARY KEY (organization_id, run_id, conversation)
);
CREATE INDEX model_reservations_organization_id_alias_idx ON model_reservations USING btree (organization_id, alias);
alter table model_reservations enable row level security;
alter table model_reservations force row level security;
create policy every on model_reservations to tocsin_system using (true) with check (true);
create policy own on model_reservations to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on model_reservations to tocsin_app, tocsin_system;

-- Model aliases that failed for an organization. No run calls a paused alias until a health check succeeds.
create table model_pauses (
  organization_id uuid not null,
  alias text not null,
  kind text not null, -- Kind of the failure.
  message text not null,
  since_at timestamp with time zone not null,
  check_at timestamp with time zone not null, -- Time of the next health check, by the clock of the database.
  constraint model_pauses_pkey PRIMARY KEY (organization_id, alias),
  constraint model_pauses_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id)
);
CREATE INDEX model_pauses_check_at_idx ON model_pauses USING btree (check_at);
alter table model_pauses enable row level security;
alter table model_pauses force row level security;
create policy every on model_pauses to tocsin_system using (true) with check (true);
create policy own on model_pauses to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on model_pauses to tocsin_app, tocsin_system;

-- What calls and checks found out about the model aliases of this installation. A row counts as long as the settings of its alias stay the same.
create table model_abilities (
  alias text not null,
  fingerprint text not null, -- Hash of the settings that decide about the abilities.
  ways text[] not null, -- Ways to submit a structured answer, in the order in which they are tried: schema, tool, text.
  calls_tools boolean not null, -- Whether conversations use tools.
  report text, -- JSON of the latest check. Null: not checked with these settings.
  misfit_kind text, -- Failure of the latest call, since the latest check, that showed that the model or its settings do not fit. Null: none.
  misfit_at timestamp with time zone,
  constraint model_abilities_pkey PRIMARY KEY (alias)
);
alter table model_abilities enable row level security;
alter table model_abilities force row level security;
create policy every on model_abilities to tocsin_system using (true) with check (true);
grant select, insert, update on model_abilities to tocsin_system;

-- Detections, suggested detections and built-in agents.
create table agents (
  organization_id uuid not null,
  id uuid not null,
  agent_type text not null, -- detection or response.
  is_built_in boolean not null default false,
  built_in_agent_type text not null default 'threat-research'::text, -- threat-relevancy or threat-research. Only meaningful if is_built_in.
  name text not null,
  description text not null default ''::text,
  tags text[] not null default '{}'::text[],
  workflow_story_import_id text,
  model_alias text not null default 'default'::text,
  planning_mode text not null default 'auto'::text,
  mode text not null default 'standard'::text,
  tool_names text[] not null default '{}'::text[],
  skills text, -- JSON array of the names of skills. Null if there are none.
  inputs text not null default '[]'::text, -- JSON array of input parameters.
  context_docs text not null default '[]'::text, -- JSON array of references to external documents.
  structured_output_schema text, -- JSON Schema of the structured output. Null if there is none.
  budgets text, -- JSON of budgets that replace those of the model alias. Null if the alias's budgets apply.
  active_prompt_id uuid, -- Prompt version in use.
  latest_prompt_version integer not null default 1, -- Highest prompt version assigned so far. The active version may be older.
  detection_category text,
  detection_query text,
  headline text, -- Template of the headline of a hit, with fields of the rows in {{}}. Null for the default headline.
  siem_type text,
  connection_id uuid, -- SIEM connection, if the detection specifies one. See tocsin_connection().
  entity_field text, -- Result column that identifies the entity. Null if the analysis chooses it.
  time_field text, -- Result column with the time of a row. Null if the analysis chooses it.
  tuning text, -- JSON of the thresholds of the analysis that differ from the defaults. Null if none does.
  lookback_minutes integer, -- Maximum age of a window that was not examined on time and is still examined. Null for the default.
  continuous boolean, -- True if events are matched when they arrive, besides the schedule. Null: they are not.
  suppression_minutes integer, -- Period in which a verdict applies to later candidates of the same entity and kind.
  dismiss_confidence integer, -- Confidence from which a judge may dismiss a candidate. Null is 70.
  acceptance_criteria text, -- JSON array of what a run of a model must fulfill: sentences, or checks that code decides. Null if there are none.
  on_undecided text, -- raise or review: what becomes of a candidate that the judge leaves undecided. Null is raise.
  detection_cadence text, -- hourly, daily or weekly. Null if custom_cron_schedule applies or the detection has no schedule.
  custom_cron_schedule text,
  cron_timezone text, -- IANA time zone of the schedule. Null is UTC.
  trigger_id uuid not null, -- Id of the schedule trigger in the API.
  enabled boolean not null default false,
  disabled_reason text,
  enabled_before_deletion boolean, -- Value of enabled when the detection was deleted, restored together with it.
  is_suggestion boolean not null default false,
  technique text, -- ATT&CK technique that a suggestion detects.
  rationale text,
  evidence text not null default '[]'::text, -- JSON array of the passages of feed items that a suggestion is based on.
  estimate text, -- JSON of the hits to expect from a suggestion. Null if unknown or if its query has changed.
  source_item_ids text[] not null default '{}'::text[], -- Feed items that a suggestion is based on.
  suggestion_fingerprint text, -- Fingerprint of the current text of a suggestion, for deduplication.
  suggestion_key text, -- Deduplication key of the original proposal. Unlike the fingerprint, it does not change when the text is edited.
  dismiss_reason text,
  dismiss_note text,
  revision integer not null default 1, -- Current revision. See agent_revisions.
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  deleted_at timestamp with time zone, -- Time of deletion, or of dismissal for a suggestion.
  constraint agents_pkey PRIMARY KEY (organization_id, id),
  constraint agents_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id)
);
CREATE INDEX agents_organization_id_created_at_id_idx ON agents USING btree (organization_id, created_at DESC, id DESC) WHERE agent_type = 'detection'::text AND NOT is_suggestion AND deleted_at IS NULL;
CREATE INDEX agents_organization_id_deleted_at_idx ON agents USING btree (organization_id, deleted_at DESC) WHERE is_suggestion AND deleted_at IS NOT NULL;
CREATE INDEX agents_organization_id_suggestion_fingerprint_idx ON agents USING btree (organization_id, suggestion_fingerprint) WHERE is_suggestion;
CREATE INDEX agents_organization_id_suggestion_key_idx ON agents USING btree (organization_id, suggestion_key) WHERE suggestion_key IS NOT NULL;
CREATE UNIQUE INDEX one_built_in_of_each ON agents USING btree (organization_id, built_in_agent_type) WHERE is_built_in;
alter table agents enable row level security;
alter table agents force row level security;
create policy every on agents to tocsin_system using (true) with check (true);
create policy own on agents to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
CREATE TRIGGER queue_changed_rehearsal AFTER UPDATE ON agents FOR EACH ROW WHEN (new.agent_type = 'detection'::text AND NOT new.is_suggestion AND (old.revision IS DISTINCT FROM new.revision OR old.is_suggestion IS DISTINCT FROM new.is_suggestion OR old.enabled IS DISTINCT FROM new.enabled)) EXECUTE FUNCTION tocsin_queue_rehearsal();
CREATE TRIGGER queue_new_rehearsal AFTER INSERT ON agents FOR EACH ROW WHEN (new.agent_type = 'detection'::text AND NOT new.is_suggestion) EXECUTE FUNCTION tocsin_queue_rehearsal();
grant select, insert, update, delete on agents to tocsin_app, tocsin_system;

-- Versions of the system prompt of a detection or built-in agent.
create table agent_prompts (
  organization_id uuid not null,
  id uuid not null,
  agent_id uuid not null,
  version integer not null,
  prompt text not null,
  description text not null default ''::text,
  key_id text, -- API key that wrote the version. Null for versions written by the service or a session without a key.
  actor text, -- Person or key that signed in, if the version was written with a session.
  created_at timestamp with time zone not null,
  constraint agent_prompts_pkey PRIMARY KEY (organization_id, id),
  constraint agent_prompts_organization_id_agent_id_version_key UNIQUE (organization_id, agent_id, version),
  constraint agent_prompts_organization_id_agent_id_fkey FOREIGN KEY (organization_id, agent_id) REFERENCES agents(organization_id, id)
);
alter table agent_prompts enable row level security;
alter table agent_prompts force row level security;
create policy every on agent_prompts to tocsin_system using (true) with check (true);
create policy own on agent_prompts to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on agent_prompts to tocsin_app, tocsin_system;

-- Definition of a detection at each revision. A run pins one revision and uses it in all of its attempts.
create table agent_revisions (
  organization_id uuid not null,
  agent_id uuid not null,
  revision integer not null,
  definition text not null, -- JSON of the definition.
  key_id text, -- API key that made the change. Null for changes made by the service or a session without a key.
  actor text, -- Person or key that signed in, if the change was made with a session.
  created_at timestamp with time zone not null,
  constraint agent_revisions_pkey PRIMARY KEY (organization_id, agent_id, revision),
  constraint agent_revisions_organization_id_agent_id_fkey FOREIGN KEY (organization_id, agent_id) REFERENCES agents(organization_id, id)
);
alter table agent_revisions enable row level security;
alter table agent_revisions force row level security;
create policy every on agent_revisions to tocsin_system using (true) with check (true);
create policy own on agent_revisions to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on agent_revisions to tocsin_app, tocsin_system;

-- Warnings about the query of a detection, from its newest run or from the check when it was saved. No row: none so far.
create table query_warnings (
  organization_id uuid not null,
  detection_id uuid not null,
  revision integer not null, -- Revision of the detection that was run or checked. Warnings of an earlier one are not shown.
  warnings text not null, -- JSON array of code, field and detail.
  constraint query_warnings_pkey PRIMARY KEY (organization_id, detection_id),
  constraint query_warnings_organization_id_detection_id_fkey FOREIGN KEY (organization_id, detection_id) REFERENCES agents(organization_id, id)
);
alter table query_warnings enable row level security;
alter table query_warnings force row level security;
create policy every on query_warnings to tocsin_system using (true) with check (true);
create policy own on query_warnings to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on query_warnings to tocsin_app, tocsin_system;

-- Test cases of a detection.
create table detection_tests (
  organization_id uuid not null,
  detection_id uuid not null,
  local_query text, -- Query for the embedded log store that replaces the detection's query in tests. Null if its own query runs there.
  cases text not null, -- JSON array of test cases.
  updated_at timestamp with time zone not null,
  constraint detection_tests_pkey PRIMARY KEY (organization_id, detection_id),
  constraint detection_tests_organization_id_detection_id_fkey FOREIGN KEY (organization_id, detection_id) REFERENCES agents(organization_id, id)
);
alter table detection_tests enable row level security;
alter table detection_tests force row level security;
create policy every on detection_tests to tocsin_system using (true) with check (true);
create policy own on detection_tests to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on detection_tests to tocsin_app, tocsin_system;

-- The last rehearsal of each ATT&CK technique: which synthetic events were made for it.
create table rehearsals (
  organization_id uuid not null,
  technique text not null,
  at timestamp with time zone not null,
  events integer not null, -- Number of synthetic events. 0: no dataset has had events in which the technique would show.
  datasets text[] not null, -- Datasets in whose form the events were made.
  sources text[] not null, -- Kinds of logs in which the technique would show.
  constraint rehearsals_pkey PRIMARY KEY (organization_id, technique),
  constraint rehearsals_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id)
);
alter table rehearsals enable row level security;
alter table rehearsals force row level security;
create policy every on rehearsals to tocsin_system using (true) with check (true);
create policy own on rehearsals to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on rehearsals to tocsin_app, tocsin_system;

-- What each detection did with the synthetic events of the techniques.
create table rehearsed_detections (
  organization_id uuid not null,
  detection_id uuid not null,
  due_at timestamp with time zone, -- When it is rehearsed next: at night, or at once after a change. Null if it was not enabled the last time.
  rehearsed_at timestamp with time zone,
  fired text[] not null default '{}'::text[], -- Techniques for which it would have raised a hit.
  muted text[] not null default '{}'::text[], -- Techniques for which an exception or an allow-list would have hidden what it found.
  failure text, -- Why its query failed on the events of a technique. Null if it did not.
  constraint rehearsed_detections_pkey PRIMARY KEY (organization_id, detection_id),
  constraint rehearsed_detections_organization_id_detection_id_fkey FOREIGN KEY (organization_id, detection_id) REFERENCES agents(organization_id, id)
);
CREATE INDEX rehearsed_detections_due_at_idx ON rehearsed_detections USING btree (due_at) WHERE due_at IS NOT NULL;
alter table rehearsed_detections enable row level security;
alter table rehearsed_detections force row level security;
create policy every on rehearsed_detections to tocsin_system using (true) with check (true);
create policy own on rehearsed_detections to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on rehearsed_detections to tocsin_app, tocsin_system;

-- Tools that an administrator has allowed for a detection.
create table tool_grants (
  organization_id uuid not null,
  detection_id uuid not null,
  tool text not null,
  settings text not null default '{}'::text, -- JSON: the allowed address of http_get, whether the results are trusted, and whether the model may send text of its own.
  key_id text, -- API key that granted the tool.
  actor text, -- Person or key that signed in, if the tool was granted with a session.
  created_at timestamp with time zone not null,
  constraint tool_grants_pkey PRIMARY KEY (organization_id, detection_id, tool),
  constraint tool_grants_organization_id_detection_id_fkey FOREIGN KEY (organization_id, detection_id) REFERENCES agents(organization_id, id)
);
alter table tool_grants enable row level security;
alter table tool_grants force row level security;
create policy every on tool_grants to tocsin_system using (true) with check (true);
create policy own on tool_grants to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on tool_grants to tocsin_app, tocsin_system;

-- What agents of an organization may use. An organization without a row has changed nothing.
create table agent_settings (
  organization_id uuid not null,
  default_tool_names text[], -- Tools of new detections. Null: none.
  hidden_datasets text[] not null, -- Datasets that are kept from models.
  hidden_fields text[] not null, -- Fields that are kept from models, with dots for keys inside of objects.
  audit_percent double precision not null, -- Percentage of dismissals that are judged again.
  updated_at timestamp with time zone not null,
  constraint agent_settings_pkey PRIMARY KEY (organization_id),
  constraint agent_settings_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id)
);
alter table agent_settings enable row level security;
alter table agent_settings force row level security;
create policy every on agent_settings to tocsin_system using (true) with check (true);
create policy own on agent_settings to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on agent_settings to tocsin_app, tocsin_system;

-- What starts runs of a response agent. The one with the source cron follows the schedule of the agent.
create table agent_triggers (
  organization_id uuid not null,
  id uuid not null,
  agent_id uuid not null,
  source text not null,
  name text not null,
  enabled boolean not null,
  settings text not null default '{}'::text, -- JSON: the filter of events, the values of inputs, and how many runs the trigger may start in an hour.
  sealed bytea, -- Encrypted secret that signs the calls of a webhook. Null for other sources.
  next_at timestamp with time zone, -- Next slot of an enabled schedule. Null otherwise.
  skipped integer not null default 0, -- Number of events that started no run, because the trigger had started as many as it may.
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint agent_triggers_pkey PRIMARY KEY (organization_id, id),
  constraint agent_triggers_source_check CHECK (source = ANY (ARRAY['cron'::text, 'hit.created'::text, 'incident.created'::text, 'incident.updated'::text, 'incident.closed'::text, 'webhook'::text])),
  constraint agent_triggers_organization_id_agent_id_fkey FOREIGN KEY (organization_id, agent_id) REFERENCES agents(organization_id, id)
);
CREATE INDEX agent_triggers_due ON agent_triggers USING btree (next_at) WHERE next_at IS NOT NULL;
CREATE INDEX agent_triggers_events ON agent_triggers USING btree (organization_id, source) WHERE enabled;
CREATE INDEX agent_triggers_organization_id_agent_id_idx ON agent_triggers USING btree (organization_id, agent_id);
CREATE INDEX agent_triggers_webhooks ON agent_triggers USING btree (id) WHERE source = 'webhook'::text;
alter table agent_triggers enable row level security;
alter table agent_triggers force row level security;
create policy every on agent_triggers to tocsin_system using (true) with check (true);
create policy own on agent_triggers to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on agent_triggers to tocsin_app, tocsin_system;

-- Events that a trigger has handled, so that each starts one run at most.
create table trigger_events (
  organization_id uuid not null,
  trigger_id uuid not null,
  event_key text not null, -- The slot of a schedule, the ID of a hit, that of an incident with its revision, or the ID that the sender of a webhook gave its call.
  run_id uuid, -- The run that the event started. Null if the trigger had started as many as it may.
  at timestamp with time zone not null,
  constraint trigger_events_pkey PRIMARY KEY (organization_id, trigger_id, event_key),
  constraint trigger_events_organization_id_trigger_id_fkey FOREIGN KEY (organization_id, trigger_id) REFERENCES agent_triggers(organization_id, id) ON DELETE CASCADE
);
CREATE INDEX trigger_events_organization_id_trigger_id_at_idx ON trigger_events USING btree (organization_id, trigger_id, at);
alter table trigger_events enable row level security;
alter table trigger_events force row level security;
create policy every on trigger_events to tocsin_system using (true) with check (true);
create policy own on trigger_events to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on trigger_events to tocsin_app, tocsin_system;

-- Second version of a detection that judges the same candidates for comparison and delivers nothing.
create table shadows (
  organization_id uuid not null,
  detection_id uuid not null,
  prompt_version integer, -- Prompt version of the shadow. Null for the detection's own.
  model_alias text, -- Model alias of the shadow. Null for the detection's own.
  created_at timestamp with time zone not null,
  constraint shadows_pkey PRIMARY KEY (organization_id, detection_id),
  constraint shadows_organization_id_detection_id_fkey FOREIGN KEY (organization_id, detection_id) REFERENCES agents(organization_id, id)
);
alter table shadows enable row level security;
alter table shadows force row level security;
create policy every on shadows to tocsin_system using (true) with check (true);
create policy own on shadows to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on shadows to tocsin_app, tocsin_system;

-- Instructions for models in the Agent Skills form. The highest version of a name is the current one. Skills in skills/ of the program have no row until the organization changes them.
create table skill_versions (
  organization_id uuid not null,
  id uuid not null,
  name text not null,
  version integer not null,
  description text not null,
  details text not null, -- JSON of the other fields of SKILL.md: license, compatibility, metadata and allowedTools.
  body text not null, -- Markdown of SKILL.md below its front matter.
  files text not null, -- JSON array of the other files, each with its path and either text or base64.
  key_id text, -- API key that wrote the version, or that erased a value in it.
  actor text, -- Person or key that signed in, if this was done with a session.
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null, -- When the version was written, or a value in it was erased.
  constraint skill_versions_pkey PRIMARY KEY (organization_id, id),
  constraint skill_versions_organization_id_name_version_key UNIQUE (organization_id, name, version),
  constraint skill_versions_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id)
);
alter table skill_versions enable row level security;
alter table skill_versions force row level security;
create policy every on skill_versions to tocsin_system using (true) with check (true);
create policy own on skill_versions to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on skill_versions to tocsin_app, tocsin_system;

-- Shipped detections and response agents that the organization has installed, with the version of each.
create table library_installs (
  organization_id uuid not null,
  library_id text not null, -- Id of the shipped detection: the name of its file in library/. Of a shipped response agent, the path of its file, such as agents/triage.
  detection_id uuid not null,
  version text not null, -- Version of the shipped detection that was installed last.
  fields text not null, -- JSON of the fields and tests of that version. What differs from them was edited by the organization.
  datasets text not null, -- JSON object: the organization's name of each dataset that has another name there.
  updated_at timestamp with time zone not null,
  constraint library_installs_pkey PRIMARY KEY (organization_id, library_id),
  constraint library_installs_organization_id_detection_id_fkey FOREIGN KEY (organization_id, detection_id) REFERENCES agents(organization_id, id)
);
alter table library_installs enable row level security;
alter table library_installs force row level security;
create policy every on library_installs to tocsin_system using (true) with check (true);
create policy own on library_installs to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on library_installs to tocsin_app, tocsin_system;

-- Addresses of sets of Sigma rules.
create table rule_sources (
  organization_id uuid not null,
  id uuid not null,
  name text not null,
  url text not null,
  min_level text not null, -- The lowest level of the rules that are imported.
  statuses text[] not null, -- The statuses of the rules that are imported.
  enabled boolean not null, -- Whether the address is checked on schedule.
  version text, -- Start of the SHA-256 of the archive whose rules were imported last.
  applied_at timestamp with time zone,
  available text, -- Start of the SHA-256 of archive.
  available_at timestamp with time zone, -- When archive was fetched.
  archive bytea, -- The newest archive, as it was sent.
  etag text, -- Validator of archive at its address.
  next_check_at timestamp with time zone, -- When the address is checked next. Null if it is not.
  claimed_until timestamp with time zone, -- Until when a process may fetch the archive. Null if none does.
  checked_at timestamp with time zone,
  failure text, -- Why the last check failed. Null if it did not.
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint rule_sources_pkey PRIMARY KEY (organization_id, id),
  constraint rule_sources_organization_id_name_key UNIQUE (organization_id, name),
  constraint rule_sources_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id)
);
CREATE INDEX rule_sources_next_check_at_idx ON rule_sources USING btree (next_check_at);
alter table rule_sources enable row level security;
alter table rule_sources force row level security;
create policy every on rule_sources to tocsin_system using (true) with check (true);
create policy own on rule_sources to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on rule_sources to tocsin_app, tocsin_system;

-- Sigma rules that the organization has imported, with the detection of each.
create table sigma_imports (
  organization_id uuid not null,
  rule_id text not null, -- Id of the rule, or its title if it has no id.
  detection_id uuid not null,
  rule_source_id uuid, -- Rule source that brought the rule. Null for rules that were sent.
  author text not null, -- Authors as the rule has them, empty if it has none.
  license text, -- License that the rule has. Null if only its source has one.
  modified text, -- Date of the rule's last change, as its author wrote it. An older rule does not replace it.
  fields text not null, -- JSON of the fields that the import gave the detection last. What differs from them was edited by the organization.
  dataset text, -- Dataset that the query in fields reads, like the next two columns null for correlation rules and for queries of other SIEMs.
  query_digest text, -- SHA-256 of that query, in hexadecimal digits.
  rule_query text, -- JSON of what that query was written from, so that rules of one dataset run as a set.
  updated_at timestamp with time zone not null,
  constraint sigma_imports_pkey PRIMARY KEY (organization_id, rule_id),
  constraint sigma_imports_organization_id_detection_id_fkey FOREIGN KEY (organization_id, detection_id) REFERENCES agents(organization_id, id),
  constraint sigma_imports_organization_id_rule_source_id_fkey FOREIGN KEY (organization_id, rule_source_id) REFERENCES rule_sources(organization_id, id)
);
CREATE INDEX sigma_imports_organization_id_detection_id_idx ON sigma_imports USING btree (organization_id, detection_id);
CREATE INDEX sigma_imports_organization_id_rule_source_id_idx ON sigma_imports USING btree (organization_id, rule_source_id) WHERE rule_source_id IS NOT NULL;
alter table sigma_imports enable row level security;
alter table sigma_imports force row level security;
create policy every on sigma_imports to tocsin_system using (true) with check (true);
create policy own on sigma_imports to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on sigma_imports to tocsin_app, tocsin_system;

-- Detections that an organization has from a pack of the operator, by file of the pack.
create table pack_installs (
  organization_id uuid not null,
  pack text not null,
  file text not null,
  detection_id uuid not null,
  version text not null, -- Version of the pack that was applied last.
  fields text not null, -- JSON of the fields and tests that were applied last, overrides included. What differs from them was edited by the organization.
  applied_at timestamp with time zone not null,
  constraint pack_installs_pkey PRIMARY KEY (organization_id, pack, file),
  constraint pack_installs_organization_id_detection_id_fkey FOREIGN KEY (organization_id, detection_id) REFERENCES agents(organization_id, id)
);
CREATE INDEX pack_installs_organization_id_detection_id_idx ON pack_installs USING btree (organization_id, detection_id);
alter table pack_installs enable row level security;
alter table pack_installs force row level security;
create policy every on pack_installs to tocsin_system using (true) with check (true);
create policy own on pack_installs to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on pack_installs to tocsin_app, tocsin_system;

-- Schedule of each detection that has ever had one. Covered, pending and gap time cover [coverage_from, boundary_at) without overlap.
create table schedules (
  organization_id uuid not null,
  detection_id uuid not null,
  cron text, -- Normalized cron expression. With a time zone, it begins with CRON_TZ=. Null if the detection has no schedule any more.
  active boolean not null,
  next_slot_at timestamp with time zone, -- Next slot. Null while inactive.
  coverage_from timestamp with time zone not null, -- Start of the first window.
  boundary_at timestamp with time zone not null, -- End of the last planned window.
  lookback_minutes integer,
  delay_ms integer not null default 0, -- Time between the end of a window and its slot.
  connection_id uuid, -- Connection that the runs query. Null for the embedded store, or if the connection does not exist.
  memory_epoch integer not null default 0, -- Incremented whenever the memory of a past window changes. A window that was analyzed under an older epoch is analyzed again before it is stored.
  author_failures integer not null default 0, -- Consecutive slots that failed because of the query. At three, the detection is disabled.
  constraint schedules_pkey PRIMARY KEY (organization_id, detection_id),
  constraint schedules_organization_id_detection_id_fkey FOREIGN KEY (organization_id, detection_id) REFERENCES agents(organization_id, id)
);
CREATE INDEX schedules_due ON schedules USING btree (next_slot_at) WHERE active;
alter table schedules enable row level security;
alter table schedules force row level security;
create policy every on schedules to tocsin_system using (true) with check (true);
create policy own on schedules to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on schedules to tocsin_app, tocsin_system;

-- Windows that are planned but not yet examined. Without a foreign key, as run_queue: the statement that writes a row moves the boundary of its schedule.
create table pending_windows (
  organization_id uuid not null,
  detection_id uuid not null,
  window_from timestamp with time zone not null,
  window_to timestamp with time zone not null,
  slot_at timestamp with time zone not null,
  failure text, -- Kind of the last failure that prevented the examination.
  constraint pending_windows_pkey PRIMARY KEY (organization_id, detection_id, window_from),
  constraint pending_windows_check CHECK (window_from < window_to)
);
CREATE INDEX pending_windows_failed ON pending_windows USING btree (organization_id, detection_id) WHERE failure IS NOT NULL;
alter table pending_windows enable row level security;
alter table pending_windows force row level security;
create policy every on pending_windows to tocsin_system using (true) with check (true);
create policy own on pending_windows to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on pending_windows to tocsin_app, tocsin_system;

-- Examined time. Adjacent windows are merged into one row.
create table coverage (
  organization_id uuid not null,
  detection_id uuid not null,
  covered_from timestamp with time zone not null,
  covered_to timestamp with time zone not null,
  constraint coverage_pkey PRIMARY KEY (organization_id, detection_id, covered_from),
  constraint coverage_check CHECK (covered_from < covered_to),
  constraint coverage_organization_id_detection_id_fkey FOREIGN KEY (organization_id, detection_id) REFERENCES schedules(organization_id, detection_id)
);
alter table coverage enable row level security;
alter table coverage force row level security;
create policy every on coverage to tocsin_system using (true) with check (true);
create policy own on coverage to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on coverage to tocsin_app, tocsin_system;

-- Time that was not examined, with the reason.
create table gaps (
  organization_id uuid not null,
  id uuid not null,
  detection_id uuid not null,
  gap_from timestamp with time zone not null,
  gap_to timestamp with time zone not null,
  reason text not null,
  state text not null default 'open'::text, -- open, filling, filled or expired (its logs are no longer retained).
  detail text,
  filled_to timestamp with time zone, -- Progress of the backfill.
  run_id uuid, -- Run that fills the gap.
  fill_at timestamp with time zone, -- When a backfill that nobody requested fills the gap, in slot time.
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint gaps_pkey PRIMARY KEY (organization_id, id),
  constraint gaps_check CHECK (gap_from < gap_to),
  constraint gaps_organization_id_detection_id_fkey FOREIGN KEY (organization_id, detection_id) REFERENCES schedules(organization_id, detection_id)
);
CREATE INDEX gaps_fill_at ON gaps USING btree (fill_at) WHERE state = 'open'::text AND fill_at IS NOT NULL;
CREATE INDEX gaps_filling ON gaps USING btree (organization_id, detection_id, gap_from) WHERE state = 'filling'::text;
CREATE INDEX gaps_open ON gaps USING btree (organization_id, detection_id, gap_from) WHERE state = 'open'::text;
CREATE INDEX gaps_organization_id_detection_id_gap_from_idx ON gaps USING btree (organization_id, detection_id, gap_from);
alter table gaps enable row level security;
alter table gaps force row level security;
create policy every on gaps to tocsin_system using (true) with check (true);
create policy own on gaps to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on gaps to tocsin_app, tocsin_system;

-- Examined windows that a backfill must analyze again, because the memory of earlier windows changed.
create table revisits (
  organization_id uuid not null,
  detection_id uuid not null,
  run_id uuid not null,
  window_from timestamp with time zone not null,
  window_to timestamp with time zone not null,
  constraint revisits_pkey PRIMARY KEY (organization_id, detection_id, run_id, window_from),
  constraint revisits_organization_id_detection_id_fkey FOREIGN KEY (organization_id, detection_id) REFERENCES schedules(organization_id, detection_id)
);
alter table revisits enable row level security;
alter table revisits force row level security;
create policy every on revisits to tocsin_system using (true) with check (true);
create policy own on revisits to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on revisits to tocsin_app, tocsin_system;

-- Windows examined on event time that are examined a second time, after late rows have arrived.
create table rechecks (
  organization_id uuid not null,
  detection_id uuid not null,
  window_from timestamp with time zone not null,
  window_to timestamp with time zone not null,
  generation text not null, -- Generation of the memory under which the window was examined.
  due_at timestamp with time zone not null, -- When the second examination is due, in slot time.
  tries integer not null default 0,
  constraint rechecks_pkey PRIMARY KEY (organization_id, detection_id, window_from),
  constraint rechecks_organization_id_detection_id_fkey FOREIGN KEY (organization_id, detection_id) REFERENCES schedules(organization_id, detection_id)
);
CREATE INDEX rechecks_due_at_idx ON rechecks USING btree (due_at);
alter table rechecks enable row level security;
alter table rechecks force row level security;
create policy every on rechecks to tocsin_system using (true) with check (true);
create policy own on rechecks to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on rechecks to tocsin_app, tocsin_system;

-- Runs of detections and response agents. A slot has exactly one run. Partitioned by month.
create table runs (
  organization_id uuid not null,
  id uuid not null,
  detection_id uuid not null,
  due_at timestamp with time zone not null, -- When the run is due, in slot time. The slot of a scheduled run.
  trigger text not null, -- schedule, manual, backfill or continuous. response or request for a run of a response agent.
  key_id text, -- API key that requested the run. Null for scheduled runs.
  actor text, -- Person or key that signed in, if the run was requested with a session.
  custom_instructions text,
  event text, -- JSON of what the run was started with: its inputs and, for a response agent, the trigger and the hit. Null if with nothing.
  incident_id uuid, -- Incident that a response agent looks into as a whole, and whose story it writes.
  status text not null, -- queued, running, completed, failed or cancelled.
  status_reason text, -- Reason for the cancellation, for example superseded.
  attempt integer not null default 0, -- Number of the latest attempt. Each claim from the queue starts one.
  slot_at timestamp with time zone,
  window_from timestamp with time zone,
  window_to timestamp with time zone,
  on_event_time boolean not null default false, -- True if the windows are on the time of the event, false if on the time of ingestion.
  windows text not null default '[]'::text, -- JSON array of the examined windows.
  revision integer, -- Revision of the definition that the run uses.
  prompt_version integer,
  model_alias text,
  model text, -- Model behind the alias at the time of the run.
  query text,
  started_at timestamp with time zone,
  finished_at timestamp with time zone,
  lag_ms bigint, -- Delay between due_at and the first attempt.
  elapsed_ms bigint not null default 0, -- Time spent up to the latest step, over all attempts.
  phases text not null default '[]'::text, -- JSON array of the phases with their durations.
  judging text not null default '{}'::text, -- JSON of the counters that the score is computed from.
  rows_total bigint not null default 0,
  truncated boolean not null default false,
  entities text not null default '[]'::text, -- JSON array of the entities with their verdicts.
  triggered boolean not null default false,
  hit_count integer not null default 0,
  suppressed text not null default '{}'::text, -- JSON of the candidates that were suppressed, counted by cause.
  score numeric(4,1),
  score_basis text, -- analyst, checked or judge. Null without a score.
  score_criteria text not null default '[]'::text, -- JSON array of the criteria with their points.
  acceptance text not null default '[]'::text, -- JSON array of the acceptance criteria with their grades. Empty until the run is graded.
  calls integer not null default 0,
  tokens integer not null default 0,
  cost_usd numeric(14,6) default 0, -- Null once a model without a price answered.
  warnings text not null default '[]'::text, -- JSON array of {code, detail}.
  failure text, -- JSON {kind, blame, retryable, message}. Null if the run did not fail.
  constraint runs_pkey PRIMARY KEY (due_at, id),
  constraint runs_organization_id_detection_id_fkey FOREIGN KEY (organization_id, detection_id) REFERENCES agents(organization_id, id)
) partition by RANGE (due_at);
create table runs_default partition of runs DEFAULT;
CREATE UNIQUE INDEX one_run_per_slot ON ONLY runs USING btree (organization_id, detection_id, due_at) WHERE trigger = 'schedule'::text;
CREATE INDEX runs_organization_id_detection_id_due_at_id_idx ON ONLY runs USING btree (organization_id, detection_id, due_at DESC, id DESC);
CREATE INDEX runs_organization_id_incident_id_due_at_idx ON ONLY runs USING btree (organization_id, incident_id, due_at DESC) WHERE incident_id IS NOT NULL;
alter table runs enable row level security;
alter table runs force row level security;
create policy every on runs to tocsin_system using (true) with check (true);
create policy own on runs to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on runs to tocsin_app, tocsin_system;

-- Steps of the agent in a run: plans, model calls and tool calls. Partitioned by month.
create table run_steps (
  organization_id uuid not null,
  run_id uuid not null,
  attempt integer not null,
  n integer not null, -- Position of the step within its attempt.
  at timestamp with time zone not null,
  body text not null, -- JSON of the step.
  constraint run_steps_pkey PRIMARY KEY (at, run_id, attempt, n)
) partition by RANGE (at);
create table run_steps_default partition of run_steps DEFAULT;
alter table run_steps enable row level security;
alter table run_steps force row level security;
create policy every on run_steps to tocsin_system using (true) with check (true);
create policy own on run_steps to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on run_steps to tocsin_app, tocsin_system;

-- Daily totals of runs, from which the 30-day figures are computed.
create table run_days (
  organization_id uuid not null,
  detection_id uuid not null,
  day date not null, -- UTC day on which the runs finished.
  score_basis text not null default ''::text, -- Basis of the scores. Empty for runs without a score.
  runs integer not null default 0,
  triggered integer not null default 0,
  score_sum numeric(14,1) not null default 0,
  scores integer not null default 0, -- Number of runs with a score; score_sum / scores is the average.
  constraint run_days_pkey PRIMARY KEY (organization_id, detection_id, day, score_basis),
  constraint run_days_organization_id_detection_id_fkey FOREIGN KEY (organization_id, detection_id) REFERENCES agents(organization_id, id)
);
CREATE INDEX run_days_organization_id_day_idx ON run_days USING btree (organization_id, day);
alter table run_days enable row level security;
alter table run_days force row level security;
create policy every on run_days to tocsin_system using (true) with check (true);
create policy own on run_days to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on run_days to tocsin_app, tocsin_system;

-- Start of the latest run of a detection or built-in agent, and the basis of its score.
create table run_facts (
  organization_id uuid not null,
  detection_id uuid not null,
  last_run_at timestamp with time zone not null,
  score_basis text,
  constraint run_facts_pkey PRIMARY KEY (organization_id, detection_id),
  constraint run_facts_organization_id_detection_id_fkey FOREIGN KEY (organization_id, detection_id) REFERENCES agents(organization_id, id)
);
alter table run_facts enable row level security;
alter table run_facts force row level security;
create policy every on run_facts to tocsin_system using (true) with check (true);
create policy own on run_facts to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on run_facts to tocsin_app, tocsin_system;

-- Runs of the built-in agents.
create table agent_runs (
  organization_id uuid not null,
  id uuid not null,
  agent_id uuid not null,
  slot_at timestamp with time zone, -- Slot of the run. Null for the first run after the schedule was set.
  status text not null,
  started_at timestamp with time zone not null,
  finished_at timestamp with time zone,
  model_alias text not null,
  model text,
  tokens bigint not null default 0,
  cost_usd numeric(16,8) default 0,
  outcome text not null default '{}'::text, -- JSON of the results.
  failure text, -- JSON of the failure. Null if the run did not fail.
  item_ids text[] not null default '{}'::text[], -- Feed items that the run processed.
  constraint agent_runs_pkey PRIMARY KEY (organization_id, id),
  constraint agent_runs_status_check CHECK (status = ANY (ARRAY['running'::text, 'completed'::text, 'failed'::text])),
  constraint agent_runs_organization_id_agent_id_fkey FOREIGN KEY (organization_id, agent_id) REFERENCES agents(organization_id, id)
);
CREATE INDEX agent_runs_organization_id_agent_id_started_at_id_idx ON agent_runs USING btree (organization_id, agent_id, started_at DESC, id DESC);
alter table agent_runs enable row level security;
alter table agent_runs force row level security;
create policy every on agent_runs to tocsin_system using (true) with check (true);
create policy own on agent_runs to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on agent_runs to tocsin_app, tocsin_system;

-- Queued and running runs. A row is deleted when its run ends. Without a foreign key, because each row is written with its run, which has one, and the check of it would be a fifth of what queueing costs.
create table run_queue (
  organization_id uuid not null,
  run_id uuid not null,
  detection_id uuid not null,
  kind text not null, -- schedule, manual, backfill or continuous. For a response agent, response if a trigger started the run, and request if a person did.
  model_alias text not null default ''::text, -- Model alias that judges the candidates of the run. Empty while its windows are examined.
  phase text not null default 
CASE model_alias
    WHEN ''::text THEN 'examine'::text
    ELSE 'judge'::text
END, -- The queue: examine or judge.
  due_at timestamp with time zone not null,
  start_at timestamp with time zone not null, -- Earliest start, in slot time.
  retry_at timestamp with time zone, -- Earliest claim after a failure or since the run waits to be judged, by the clock of the database.
  connection_id uuid, -- Connection that the run queries, so that a claim can skip paused or busy connections. See schedules.connection_id. Null in the phase judge.
  failure text, -- JSON of the failure that ended the examination. The run ends with it once its candidates are judged.
  state text not null default 'queued'::text, -- queued or running.
  begun boolean not null default false, -- True once claimed. A newer slot then no longer supersedes the run.
  attempt integer not null default 0, -- Number of claims. Together with worker it fences the writes of a worker that lost its lease.
  lost integer not null default 0, -- Number of times that a worker lost the run in its phase.
  retries integer not null default 0, -- Number of retries in its phase.
  lease_until timestamp with time zone, -- End of the lease, by the clock of the database.
  worker text, -- Id of the claim.
  cancel_requested boolean not null default false,
  constraint run_queue_pkey PRIMARY KEY (run_id)
);
CREATE UNIQUE INDEX one_queued_of_each_kind ON run_queue USING btree (organization_id, detection_id, kind) WHERE state = 'queued'::text AND NOT begun AND (kind <> ALL (ARRAY['response'::text, 'request'::text]));
CREATE UNIQUE INDEX one_running_of_each_kind ON run_queue USING btree (organization_id, detection_id, phase, kind) WHERE state = 'running'::text AND (kind <> ALL (ARRAY['response'::text, 'request'::text]));
CREATE INDEX run_queue_aliases ON run_queue USING btree (model_alias, organization_id) WHERE state = 'running'::text AND phase = 'judge'::text;
CREATE INDEX run_queue_claim ON run_queue USING btree (organization_id, kind, model_alias, start_at, run_id) WHERE state = 'queued'::text;
CREATE INDEX run_queue_connections ON run_queue USING btree (organization_id, connection_id) WHERE state = 'running'::text AND connection_id IS NOT NULL;
CREATE INDEX run_queue_due ON run_queue USING btree (phase, start_at, organization_id, kind, model_alias) WHERE state = 'queued'::text;
CREATE INDEX run_queue_leases ON run_queue USING btree (lease_until) WHERE state = 'running'::text;
CREATE INDEX run_queue_organization_id_detection_id_idx ON run_queue USING btree (organization_id, detection_id);
CREATE INDEX run_queue_running ON run_queue USING btree (organization_id, kind, model_alias, worker) WHERE state = 'running'::text;
alter table run_queue enable row level security;
alter table run_queue force row level security;
create policy every on run_queue to tocsin_system using (true) with check (true);
create policy own on run_queue to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on run_queue to tocsin_app, tocsin_system;

-- Fair sharing of the two queues: the lane served longest ago is served next. To examine, one lane per organization and kind of run. To judge, one per organization, kind of run and model alias.
create table lanes (
  organization_id uuid not null,
  kind text not null,
  model_alias text not null default ''::text, -- Model alias that judges the runs. Empty for those to examine.
  judges boolean not null default (model_alias <> ''::text), -- The queue: false to examine, true to judge. The planner estimates that many lanes have either, and so reads them in order.
  cap integer not null default 8, -- Maximum number of concurrent runs in the lane. To judge, the limit of the alias applies as well.
  served_at timestamp with time zone not null default '1970-01-01 00:00:00+00'::timestamp with time zone,
  constraint lanes_pkey PRIMARY KEY (organization_id, kind, model_alias),
  constraint lanes_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id)
);
CREATE INDEX lanes_judges_served_at_idx ON lanes USING btree (judges, served_at);
alter table lanes enable row level security;
alter table lanes force row level security;
create policy every on lanes to tocsin_system using (true) with check (true);
create policy own on lanes to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on lanes to tocsin_app, tocsin_system;

-- How far the events of a dataset have been matched when they arrived.
create table match_positions (
  organization_id uuid not null,
  dataset text not null,
  reader text not null, -- What they are matched with: continuous detections, or indicators of the feed.
  matched_to timestamp with time zone not null, -- End of the matched events by `_ingested`, exclusive.
  lease_until timestamp with time zone, -- End of the lease of a matcher, by the clock of the database. Null if none has it.
  worker uuid, -- ID of the claim. It fences the writes of a matcher that lost its lease.
  served_at timestamp with time zone not null default '1970-01-01 00:00:00+00'::timestamp with time zone, -- When an organization was served last: the one served longest ago is next.
  constraint match_positions_pkey PRIMARY KEY (organization_id, dataset, reader),
  constraint match_positions_reader_check CHECK (reader = ANY (ARRAY['detections'::text, 'indicators'::text])),
  constraint match_positions_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id)
);
alter table match_positions enable row level security;
alter table match_positions force row level security;
create policy every on match_positions to tocsin_system using (true) with check (true);
create policy own on match_positions to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on match_positions to tocsin_app, tocsin_system;

-- What the matcher knows of detections that are to be matched when events arrive.
create table continuous_detections (
  organization_id uuid not null,
  detection_id uuid not null,
  revision integer not null, -- Revision of the definition that the row is about.
  dataset text, -- Dataset that the query reads. Null with an obstacle.
  obstacle text, -- Why the detection only runs at its slots. Null: it is matched.
  expensive boolean not null default false, -- True if no text is known that an event must have to match, so that the condition is evaluated for every event.
  matched_from timestamp with time zone, -- Events that arrived from this time on were matched with this revision.
  paused_at timestamp with time zone, -- When it matched more events than the limit and went back to its slots. Null: it did not.
  minute_at timestamp with time zone, -- Minute of slot time in which it matched last.
  minute_events integer not null default 0, -- Events that it matched in that minute.
  events bigint not null default 0, -- Events that it has matched.
  missed bigint not null default 0, -- Events that a slot found although they had been matched before, at the same revision, without being found.
  matched_at timestamp with time zone,
  latency_ms bigint, -- Time from the arrival of the first event of the latest matched batch to the stored candidates.
  constraint continuous_detections_pkey PRIMARY KEY (organization_id, detection_id),
  constraint continuous_detections_organization_id_detection_id_fkey FOREIGN KEY (organization_id, detection_id) REFERENCES agents(organization_id, id)
);
alter table continuous_detections enable row level security;
alter table continuous_detections force row level security;
create policy every on continuous_detections to tocsin_system using (true) with check (true);
create policy own on continuous_detections to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on continuous_detections to tocsin_app, tocsin_system;

-- Windows by `_ingested` in which events match a continuous detection, until its next continuous run has examined them.
create table matched_windows (
  organization_id uuid not null,
  detection_id uuid not null,
  window_from timestamp with time zone not null,
  window_to timestamp with time zone not null,
  arrived_at timestamp with time zone not null, -- Arrival of the first event of the window, whether or not it matches.
  events integer not null,
  constraint matched_windows_pkey PRIMARY KEY (organization_id, detection_id, window_from),
  constraint matched_windows_check CHECK (window_from < window_to),
  constraint matched_windows_organization_id_detection_id_fkey FOREIGN KEY (organization_id, detection_id) REFERENCES agents(organization_id, id)
);
alter table matched_windows enable row level security;
alter table matched_windows force row level security;
create policy every on matched_windows to tocsin_system using (true) with check (true);
create policy own on matched_windows to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on matched_windows to tocsin_app, tocsin_system;

-- Values that the analysis stores for each window, such as the count of an entity, to compare later windows with.
create table memory (
  organization_id uuid not null,
  detection_id uuid not null,
  generation text not null, -- SHA-256 of everything that makes windows comparable (query, category, fields, connection, cadence). A change starts a new memory.
  key text not null, -- Name of the value. Its meaning depends on the category.
  window_from timestamp with time zone not null,
  entity text collate "C" not null,
  number double precision,
  value text, -- JSON.
  constraint memory_pkey PRIMARY KEY (organization_id, detection_id, generation, key, entity, window_from),
  constraint memory_organization_id_detection_id_fkey FOREIGN KEY (organization_id, detection_id) REFERENCES agents(organization_id, id)
);
CREATE INDEX memory_organization_id_detection_id_generation_entity_windo_idx ON memory USING btree (organization_id, detection_id, generation, entity, window_from);
alter table memory enable row level security;
alter table memory force row level security;
create policy every on memory to tocsin_system using (true) with check (true);
create policy own on memory to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on memory to tocsin_app, tocsin_system;

-- Windows that the memory of a generation contains.
create table memory_windows (
  organization_id uuid not null,
  detection_id uuid not null,
  generation text not null,
  window_from timestamp with time zone not null,
  window_to timestamp with time zone not null,
  examined boolean not null default true, -- False for windows before the first one, which were only read to fill the memory.
  constraint memory_windows_pkey PRIMARY KEY (organization_id, detection_id, generation, window_from),
  constraint memory_windows_organization_id_detection_id_fkey FOREIGN KEY (organization_id, detection_id) REFERENCES agents(organization_id, id)
);
alter table memory_windows enable row level security;
alter table memory_windows force row level security;
create policy every on memory_windows to tocsin_system using (true) with check (true);
create policy own on memory_windows to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on memory_windows to tocsin_app, tocsin_system;

-- Generations whose memory has been filled from the windows before their first one.
create table memory_fills (
  organization_id uuid not null,
  detection_id uuid not null,
  generation text not null,
  filled_at timestamp with time zone not null,
  constraint memory_fills_pkey PRIMARY KEY (organization_id, detection_id, generation),
  constraint memory_fills_organization_id_detection_id_fkey FOREIGN KEY (organization_id, detection_id) REFERENCES agents(organization_id, id)
);
alter table memory_fills enable row level security;
alter table memory_fills force row level security;
create policy every on memory_fills to tocsin_system using (true) with check (true);
create policy own on memory_fills to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on memory_fills to tocsin_app, tocsin_system;

-- Findings of a window that need a verdict. Inserted in the same transaction as the memory and coverage of the window, and judged one by one afterwards.
create table candidates (
  organization_id uuid not null,
  id uuid not null,
  detection_id uuid not null,
  run_id uuid not null, -- Run that found the candidate.
  trigger text not null, -- Trigger of that run.
  window_from timestamp with time zone not null,
  window_to timestamp with time zone not null,
  entity text not null,
  entity_type text not null,
  kind text not null, -- Detection category.
  kind_key text not null, -- Finding without times and counts. Part of the key of the hit.
  event_key text, -- Key of the hit of a candidate that is a single event, which the continuous matching and the slots share. Null for all others, and in manual runs.
  severity text not null,
  facts text not null, -- JSON of the facts that the analysis computed.
  rows text not null, -- JSON array of the log rows shown to the judge.
  generation text not null, -- Generation of the memory that the candidate was compared with.
  learned boolean not null default true,
  state text not null default 'pending'::text, -- pending, judged, raised (a hit from the facts, which the model may still judge), review (waits for a person), suppressed or outdated (the window no longer contains it, or its events were withdrawn).
  verdict text, -- JSON of the verdict. Null if the candidate became a hit without one.
  observations text, -- JSON array of the tool results that a verdict without a hit cites. Null otherwise.
  hit_id uuid,
  case_id uuid, -- Case of the review queue that the candidate waits with, which has the ID of its first candidate.
  judged_run_id uuid, -- Run that judged the candidate, or raised it from its facts. Null if no run did.
  arrived_at timestamp with time zone, -- Arrival of the first event of the batch that was matched when it arrived. Null for what a slot found.
  created_at timestamp with time zone not null,
  judged_at timestamp with time zone,
  constraint candidates_pkey PRIMARY KEY (organization_id, id),
  constraint candidates_organization_id_detection_id_fkey FOREIGN KEY (organization_id, detection_id) REFERENCES agents(organization_id, id)
);
CREATE INDEX candidates_dismissed ON candidates USING btree (judged_at) WHERE state = 'judged'::text AND hit_id IS NULL;
CREATE UNIQUE INDEX candidates_of_events ON candidates USING btree (organization_id, event_key) WHERE event_key IS NOT NULL;
CREATE INDEX candidates_organization_id_detection_id_window_from_id_idx ON candidates USING btree (organization_id, detection_id, window_from, id) WHERE state = 'pending'::text;
CREATE INDEX candidates_organization_id_run_id_idx ON candidates USING btree (organization_id, run_id);
CREATE INDEX candidates_raised ON candidates USING btree (organization_id, detection_id, created_at) WHERE state = 'raised'::text;
CREATE INDEX candidates_review ON candidates USING btree (organization_id, case_id) WHERE state = 'review'::text;
CREATE INDEX candidates_window ON candidates USING btree (organization_id, detection_id, window_from);
alter table candidates enable row level security;
alter table candidates force row level security;
create policy every on candidates to tocsin_system using (true) with check (true);
create policy own on candidates to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on candidates to tocsin_app, tocsin_system;

-- Events that stay in the logs although what they reported was withdrawn, such as sightings of a retracted indicator. No candidate of them becomes a hit.
create table withdrawn_events (
  organization_id uuid not null,
  event_id text not null,
  withdrawn_at timestamp with time zone not null,
  constraint withdrawn_events_pkey PRIMARY KEY (organization_id, event_id),
  constraint withdrawn_events_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id)
);
CREATE INDEX withdrawn_events_organization_id_withdrawn_at_idx ON withdrawn_events USING btree (organization_id, withdrawn_at);
alter table withdrawn_events enable row level security;
alter table withdrawn_events force row level security;
create policy every on withdrawn_events to tocsin_system using (true) with check (true);
create policy own on withdrawn_events to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on withdrawn_events to tocsin_app, tocsin_system;

-- Candidates that are no hit and that somebody must decide: those that the judge left undecided, and dismissals of the audit.
create table review_cases (
  organization_id uuid not null,
  id uuid not null, -- ID of the candidate.
  detection_id uuid not null,
  kind text not null,
  suppression_key text, -- Later candidates with the key wait with the case. Null if none does.
  entity_key uuid not null, -- MD5 of the entity in lower case. A UUID, because row-level security lets only leakproof operators use an index.
  state text not null default 'open'::text,
  opened_at timestamp with time zone not null,
  expires_at timestamp with time zone not null, -- When an undecided case becomes a hit, and a dismissal leaves the audit.
  decided_at timestamp with time zone,
  key_id text, -- API key that decided. Null if the service did, or a session without a key.
  actor text, -- Person or key that signed in, if the case was decided with a session.
  reason text,
  hit_id uuid,
  weight double precision not null default 1, -- How many dismissals of its day an audited one stands for.
  second_alias text, -- Model alias that judged an audited dismissal again. Null if none has.
  second_verdict text, -- JSON of the verdict of that alias.
  failures integer not null default 0, -- How often that alias was asked.
  retry_at timestamp with time zone not null default now(), -- Earliest time to ask it, by the clock of the database. While it is asked, the end of the lease.
  constraint review_cases_pkey PRIMARY KEY (organization_id, id),
  constraint review_cases_kind_check CHECK (kind = ANY (ARRAY['undecided'::text, 'audit'::text])),
  constraint review_cases_state_check CHECK (state = ANY (ARRAY['open'::text, 'raised'::text, 'dismissed'::text, 'expired'::text, 'outdated'::text])),
  constraint review_cases_organization_id_detection_id_fkey FOREIGN KEY (organization_id, detection_id) REFERENCES agents(organization_id, id),
  constraint review_cases_organization_id_id_fkey FOREIGN KEY (organization_id, id) REFERENCES candidates(organization_id, id) ON DELETE CASCADE
);
CREATE INDEX review_cases_audit ON review_cases USING btree (organization_id, detection_id, opened_at) WHERE kind = 'audit'::text;
CREATE INDEX review_cases_entity ON review_cases USING btree (organization_id, entity_key);
CREATE INDEX review_cases_expiring ON review_cases USING btree (expires_at) WHERE state = 'open'::text;
CREATE INDEX review_cases_listed ON review_cases USING btree (organization_id, opened_at DESC, id DESC);
CREATE INDEX review_cases_open ON review_cases USING btree (organization_id, detection_id, suppression_key) WHERE state = 'open'::text AND kind = 'undecided'::text;
CREATE INDEX review_cases_waiting ON review_cases USING btree (retry_at) WHERE kind = 'audit'::text AND state = 'open'::text AND second_alias IS NULL;
alter table review_cases enable row level security;
alter table review_cases force row level security;
create policy every on review_cases to tocsin_system using (true) with check (true);
create policy own on review_cases to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on review_cases to tocsin_app, tocsin_system;

-- Dismissals of a detection by UTC day, and how many of them the audit sampled.
create table dismissal_days (
  organization_id uuid not null,
  detection_id uuid not null,
  day date not null,
  dismissals integer not null,
  sampled integer not null,
  salt uuid not null, -- Key of the hash that selected them: the sample has the lowest SHA-256 of salt and ID.
  constraint dismissal_days_pkey PRIMARY KEY (organization_id, detection_id, day),
  constraint dismissal_days_organization_id_detection_id_fkey FOREIGN KEY (organization_id, detection_id) REFERENCES agents(organization_id, id)
);
alter table dismissal_days enable row level security;
alter table dismissal_days force row level security;
create policy every on dismissal_days to tocsin_system using (true) with check (true);
create policy own on dismissal_days to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on dismissal_days to tocsin_app, tocsin_system;

-- Verdicts that also apply to other candidates with the same key: from since_at to until_at, and those of a hit to late candidates as long before since_at.
create table suppressions (
  organization_id uuid not null,
  detection_id uuid not null,
  key text not null, -- SHA-256 of everything that must be equal: prompt version, model, tools, schema, generation, entity and kind.
  positive boolean not null, -- True if later candidates are added to the hit as occurrences, false if they are dropped.
  hit_id uuid,
  facts text not null, -- JSON of the judged facts. A negative verdict does not apply to a candidate with stronger facts.
  severity text not null,
  since_at timestamp with time zone not null,
  until_at timestamp with time zone not null,
  constraint suppressions_pkey PRIMARY KEY (organization_id, detection_id, key, since_at),
  constraint suppressions_organization_id_detection_id_fkey FOREIGN KEY (organization_id, detection_id) REFERENCES agents(organization_id, id)
);
alter table suppressions enable row level security;
alter table suppressions force row level security;
create policy every on suppressions to tocsin_system using (true) with check (true);
create policy own on suppressions to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on suppressions to tocsin_app, tocsin_system;

-- Waves: windows in which one detection raised many hits. People and destinations see them as one.
create table hit_groups (
  organization_id uuid not null,
  id uuid not null,
  detection_id uuid not null,
  window_from timestamp with time zone not null,
  window_to timestamp with time zone not null,
  hits integer not null default 0, -- Number of hits that joined the group.
  revision integer not null default 0, -- Number of events about the group.
  announced integer not null default 0, -- Number of hits at the latest event about the group. 0 if there was none.
  has_changes boolean not null default false, -- True if later verdicts changed hits since the latest event.
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint hit_groups_pkey PRIMARY KEY (organization_id, id),
  constraint hit_groups_organization_id_detection_id_window_from_window__key UNIQUE (organization_id, detection_id, window_from, window_to),
  constraint hit_groups_organization_id_detection_id_fkey FOREIGN KEY (organization_id, detection_id) REFERENCES agents(organization_id, id)
);
CREATE INDEX hit_groups_grown ON hit_groups USING btree (organization_id, detection_id) WHERE announced > 0 AND (announced < hits OR has_changes);
CREATE INDEX hit_groups_organization_id_created_at_id_idx ON hit_groups USING btree (organization_id, created_at DESC, id DESC);
alter table hit_groups enable row level security;
alter table hit_groups force row level security;
create policy every on hit_groups to tocsin_system using (true) with check (true);
create policy own on hit_groups to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on hit_groups to tocsin_app, tocsin_system;

-- Hits: findings with a positive verdict.
create table hits (
  organization_id uuid not null,
  id uuid not null,
  detection_id uuid not null,
  key text not null, -- Hash of detection, entity and kind. The same finding in another window is an occurrence of the same hit.
  entity text not null,
  entity_type text not null,
  kind text not null, -- Detection category.
  severity text not null,
  confidence integer not null, -- Confidence in percent.
  headline text not null,
  summary text not null,
  next_step text not null,
  verdict text not null default 'raise'::text, -- raise, undecided, or dismiss where the facts overrule the judge.
  claims text not null default '[]'::text, -- JSON array of the sentences of the verdict, with citations and status.
  evidence text not null, -- JSON array of the quoted fields of log rows.
  observations text not null default '[]'::text, -- JSON array of the tool results that the verdict cites.
  techniques text not null default '[]'::text, -- JSON array of the ATT&CK techniques that the judge named.
  open_question text, -- What has to be found out. Null for a verdict that decides the case.
  rows text not null, -- JSON array of the log rows.
  facts text not null, -- JSON of the facts that the analysis computed.
  judged boolean not null default true, -- False if the model gave no verdict and the hit is based on the facts alone.
  unjudged_reason text, -- Kind of the failure because of which there is no verdict.
  group_id uuid, -- Group of the wave in which the hit was raised. Null if its window has few hits.
  model_disagrees text, -- Reason of a judge that rejected a finding whose facts make it a hit anyway, or dismissed it later. Null otherwise.
  status text not null default 'open'::text, -- open, true_positive, benign, false_positive or outdated.
  superseded boolean not null default false, -- True if the service marked the hit as outdated because the past changed or the model dismissed it later. If it is found again, its content is replaced. The status that a person set is kept.
  revision integer not null default 1,
  changed_revision integer not null default 1, -- Revision of the last change of its content or status. Later revisions only saw it again.
  occurrences integer not null default 1, -- Number of windows that contain the finding.
  window_from timestamp with time zone not null, -- Start of the earliest of these windows.
  window_to timestamp with time zone not null,
  first_seen_at timestamp with time zone not null,
  last_seen_at timestamp with time zone not null,
  arrived_at timestamp with time zone, -- As in the candidate that became the hit.
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint hits_pkey PRIMARY KEY (organization_id, id),
  constraint hits_organization_id_detection_id_key_key UNIQUE (organization_id, detection_id, key),
  constraint hits_organization_id_detection_id_fkey FOREIGN KEY (organization_id, detection_id) REFERENCES agents(organization_id, id)
);
CREATE INDEX hits_detection ON hits USING btree (organization_id, detection_id, status);
CREATE INDEX hits_group ON hits USING btree (organization_id, group_id) WHERE group_id IS NOT NULL;
CREATE INDEX hits_open ON hits USING btree (organization_id, severity, created_at) WHERE status = 'open'::text;
CREATE INDEX hits_organization_id_created_at_id_idx ON hits USING btree (organization_id, created_at DESC, id DESC);
CREATE INDEX hits_raised ON hits USING btree (organization_id, detection_id, created_at);
CREATE INDEX hits_reviewed ON hits USING btree (organization_id, created_at, status) WHERE status = ANY (ARRAY['true_positive'::text, 'benign'::text, 'false_positive'::text]);
CREATE INDEX hits_window ON hits USING btree (organization_id, detection_id, window_from);
alter table hits enable row level security;
alter table hits force row level security;
create policy every on hits to tocsin_system using (true) with check (true);
create policy own on hits to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
CREATE TRIGGER queue_changed_hit AFTER UPDATE ON hits FOR EACH ROW WHEN (old.severity IS DISTINCT FROM new.severity OR old.status IS DISTINCT FROM new.status OR old.last_seen_at IS DISTINCT FROM new.last_seen_at OR old.entity IS DISTINCT FROM new.entity OR old.rows IS DISTINCT FROM new.rows) EXECUTE FUNCTION tocsin_queue_hit();
CREATE TRIGGER queue_new_hit AFTER INSERT ON hits FOR EACH ROW EXECUTE FUNCTION tocsin_queue_hit();
grant select, insert, update, delete on hits to tocsin_app, tocsin_system;

-- Which hits have a value as their entity or in a field of their rows, and which have an entity with a name of a stem.
create table hit_values (
  organization_id uuid not null,
  value_key uuid not null, -- MD5 of the value in lower case, or of `entity`, a line break and the stem: what all names have that rules can join. A UUID, because row-level security lets only leakproof operators use an index.
  hit_id uuid not null,
  constraint hit_values_pkey PRIMARY KEY (organization_id, value_key, hit_id),
  constraint hit_values_organization_id_hit_id_fkey FOREIGN KEY (organization_id, hit_id) REFERENCES hits(organization_id, id) ON DELETE CASCADE
);
CREATE INDEX hit_values_organization_id_hit_id_idx ON hit_values USING btree (organization_id, hit_id);
alter table hit_values enable row level security;
alter table hit_values force row level security;
create policy every on hit_values to tocsin_system using (true) with check (true);
create policy own on hit_values to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on hit_values to tocsin_app, tocsin_system;

-- Runs and windows in which a hit was found.
create table hit_occurrences (
  organization_id uuid not null,
  hit_id uuid not null,
  run_id uuid not null,
  window_from timestamp with time zone not null,
  seen_at timestamp with time zone not null,
  constraint hit_occurrences_pkey PRIMARY KEY (organization_id, hit_id, run_id, window_from),
  constraint hit_occurrences_organization_id_hit_id_fkey FOREIGN KEY (organization_id, hit_id) REFERENCES hits(organization_id, id)
);
CREATE INDEX hit_occurrences_organization_id_run_id_idx ON hit_occurrences USING btree (organization_id, run_id);
alter table hit_occurrences enable row level security;
alter table hit_occurrences force row level security;
create policy every on hit_occurrences to tocsin_system using (true) with check (true);
create policy own on hit_occurrences to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on hit_occurrences to tocsin_app, tocsin_system;

-- Changes of the status of a hit.
create table hit_changes (
  organization_id uuid not null,
  id uuid not null,
  hit_id uuid not null,
  at timestamp with time zone not null,
  key_id text, -- API key that made the change. Null for changes made by the service or a session without a key.
  actor text, -- Person or key that signed in, if the change was made with a session.
  person_id uuid, -- Person who made the change. Null for a key and the service.
  from_status text not null,
  to_status text not null,
  reason text,
  batch_id uuid, -- Identifies the changes of a group of hits that were made together. Null for a change of a single hit.
  revision integer, -- Revision of the hit after the change.
  constraint hit_changes_pkey PRIMARY KEY (organization_id, id),
  constraint hit_changes_organization_id_hit_id_fkey FOREIGN KEY (organization_id, hit_id) REFERENCES hits(organization_id, id) ON DELETE CASCADE,
  constraint hit_changes_organization_id_person_id_fkey FOREIGN KEY (organization_id, person_id) REFERENCES persons(organization_id, id)
);
CREATE INDEX hit_changes_organization_id_hit_id_at_idx ON hit_changes USING btree (organization_id, hit_id, at);
alter table hit_changes enable row level security;
alter table hit_changes force row level security;
create policy every on hit_changes to tocsin_system using (true) with check (true);
create policy own on hit_changes to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on hit_changes to tocsin_app, tocsin_system;

-- Comments of people, in Markdown, and of response agents on hits.
create table hit_comments (
  organization_id uuid not null,
  id uuid not null,
  hit_id uuid not null,
  at timestamp with time zone not null,
  body text not null,
  key_id text, -- API key that wrote the comment. Null for comments of agents or a session without a key.
  actor text, -- Person or key that signed in, if the comment was written with a session.
  person_id uuid, -- Person who wrote the comment. Null for a key and an agent.
  agent_id uuid, -- Response agent that wrote the comment in the run run_id.
  run_id uuid,
  constraint hit_comments_pkey PRIMARY KEY (organization_id, id),
  constraint hit_comments_organization_id_agent_id_fkey FOREIGN KEY (organization_id, agent_id) REFERENCES agents(organization_id, id),
  constraint hit_comments_organization_id_hit_id_fkey FOREIGN KEY (organization_id, hit_id) REFERENCES hits(organization_id, id) ON DELETE CASCADE,
  constraint hit_comments_organization_id_person_id_fkey FOREIGN KEY (organization_id, person_id) REFERENCES persons(organization_id, id)
);
CREATE INDEX hit_comments_organization_id_hit_id_at_idx ON hit_comments USING btree (organization_id, hit_id, at);
alter table hit_comments enable row level security;
alter table hit_comments force row level security;
create policy every on hit_comments to tocsin_system using (true) with check (true);
create policy own on hit_comments to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on hit_comments to tocsin_app, tocsin_system;

-- Hits that belong together, with who works on them and how it ended.
create table incidents (
  organization_id uuid not null,
  id uuid not null,
  state text not null default 'open'::text,
  resolution text, -- How a closed incident ended. Null for all others.
  severity text not null, -- Highest severity of its hits, unless a person set it.
  severity_set boolean not null default false,
  owner text, -- Person or key that works on it, as the caller named it.
  owner_id uuid, -- The person of this name. Null for a key or any other name.
  title text not null,
  touched boolean not null default false, -- True if a person decided something about it. From then on the service adds hits of a higher severity only, and links the others.
  merged_into uuid, -- Incident that has its hits now. Its ID stays valid for that one.
  revision integer not null default 1,
  close_batch uuid, -- Identifies the status changes of its hits when it was closed, which can be undone.
  first_at timestamp with time zone not null, -- When its hits were first seen.
  last_at timestamp with time zone not null,
  due_at timestamp with time zone not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint incidents_pkey PRIMARY KEY (organization_id, id),
  constraint incidents_check CHECK ((state = 'closed'::text) = (resolution IS NOT NULL)),
  constraint incidents_resolution_check CHECK (resolution = ANY (ARRAY['true_positive'::text, 'false_positive'::text, 'benign'::text, 'outdated'::text])),
  constraint incidents_state_check CHECK (state = ANY (ARRAY['open'::text, 'in_progress'::text, 'closed'::text])),
  constraint incidents_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  constraint incidents_organization_id_owner_id_fkey FOREIGN KEY (organization_id, owner_id) REFERENCES persons(organization_id, id)
);
CREATE INDEX incidents_merged ON incidents USING btree (organization_id, merged_into) WHERE merged_into IS NOT NULL;
CREATE INDEX incidents_open ON incidents USING btree (organization_id, state) WHERE state <> 'closed'::text AND merged_into IS NULL;
CREATE INDEX incidents_organization_id_last_at_id_idx ON incidents USING btree (organization_id, last_at DESC, id DESC) WHERE merged_into IS NULL;
alter table incidents enable row level security;
alter table incidents force row level security;
create policy every on incidents to tocsin_system using (true) with check (true);
create policy own on incidents to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on incidents to tocsin_app, tocsin_system;

-- Which incident each hit is in. A hit without company is in none.
create table incident_hits (
  organization_id uuid not null,
  hit_id uuid not null,
  incident_id uuid,
  pinned boolean not null default false, -- True if a person decided where the hit is.
  entity_key uuid not null, -- Key of its entity, as in hit_connections.
  seen text not null, -- JSON array of the spans in which the hit was seen, in epoch milliseconds.
  from_at timestamp with time zone not null, -- When the hit was first seen. to_at is when it was seen last.
  to_at timestamp with time zone not null,
  constraint incident_hits_pkey PRIMARY KEY (organization_id, hit_id),
  constraint incident_hits_organization_id_hit_id_fkey FOREIGN KEY (organization_id, hit_id) REFERENCES hits(organization_id, id) ON DELETE CASCADE,
  constraint incident_hits_organization_id_incident_id_fkey FOREIGN KEY (organization_id, incident_id) REFERENCES incidents(organization_id, id)
);
CREATE INDEX incident_hits_organization_id_incident_id_idx ON incident_hits USING btree (organization_id, incident_id) WHERE incident_id IS NOT NULL;
alter table incident_hits enable row level security;
alter table incident_hits force row level security;
create policy every on incident_hits to tocsin_system using (true) with check (true);
create policy own on incident_hits to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on incident_hits to tocsin_app, tocsin_system;

-- Values by which hits join others: entities in any role, indicators, sessions and processes.
create table hit_connections (
  organization_id uuid not null,
  hit_id uuid not null,
  value_key uuid not null, -- Hash of type and value in lower case. A UUID, because row-level security lets only leakproof operators use an index.
  kind text not null,
  type text not null,
  value text not null,
  cells text not null, -- JSON array of the cells that show the value. One without a row is the entity of the hit.
  others integer not null default 0, -- Number of other entities whose hits had the value before, counted up to one more than may have it.
  entity_key uuid not null,
  from_at timestamp with time zone not null, -- When the hit was first seen. to_at is when it was seen last.
  to_at timestamp with time zone not null,
  constraint hit_connections_pkey PRIMARY KEY (organization_id, hit_id, value_key),
  constraint hit_connections_kind_check CHECK (kind = ANY (ARRAY['entity'::text, 'indicator'::text, 'session'::text, 'process'::text])),
  constraint hit_connections_organization_id_hit_id_fkey FOREIGN KEY (organization_id, hit_id) REFERENCES incident_hits(organization_id, hit_id) ON DELETE CASCADE
);
CREATE INDEX hit_connections_value ON hit_connections USING btree (organization_id, value_key, to_at);
alter table hit_connections enable row level security;
alter table hit_connections force row level security;
create policy every on hit_connections to tocsin_system using (true) with check (true);
create policy own on hit_connections to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on hit_connections to tocsin_app, tocsin_system;

-- Hits outside of an incident that a person touched, which would be in it otherwise.
create table incident_links (
  organization_id uuid not null,
  incident_id uuid not null,
  hit_id uuid not null,
  value_key uuid not null, -- A value that connects them.
  at timestamp with time zone not null,
  constraint incident_links_pkey PRIMARY KEY (organization_id, incident_id, hit_id),
  constraint incident_links_organization_id_hit_id_fkey FOREIGN KEY (organization_id, hit_id) REFERENCES incident_hits(organization_id, hit_id) ON DELETE CASCADE,
  constraint incident_links_organization_id_incident_id_fkey FOREIGN KEY (organization_id, incident_id) REFERENCES incidents(organization_id, id) ON DELETE CASCADE
);
CREATE INDEX incident_links_organization_id_hit_id_idx ON incident_links USING btree (organization_id, hit_id);
alter table incident_links enable row level security;
alter table incident_links force row level security;
create policy every on incident_links to tocsin_system using (true) with check (true);
create policy own on incident_links to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on incident_links to tocsin_app, tocsin_system;

-- What people and the service did with an incident.
create table incident_changes (
  organization_id uuid not null,
  id uuid not null,
  incident_id uuid not null,
  at timestamp with time zone not null,
  key_id text, -- API key that made the change. Null for changes made by the service or a session without a key.
  actor text, -- Person or key that signed in, if the change was made with a session.
  person_id uuid, -- Person who made the change. Null for a key and for the service.
  action text not null,
  fields text not null, -- JSON array of the fields that changed, with their values before and after, and the IDs of persons among these.
  revision integer not null, -- Revision of the incident after the change.
  constraint incident_changes_pkey PRIMARY KEY (organization_id, id),
  constraint incident_changes_organization_id_incident_id_fkey FOREIGN KEY (organization_id, incident_id) REFERENCES incidents(organization_id, id) ON DELETE CASCADE,
  constraint incident_changes_organization_id_person_id_fkey FOREIGN KEY (organization_id, person_id) REFERENCES persons(organization_id, id)
);
CREATE INDEX incident_changes_organization_id_incident_id_at_idx ON incident_changes USING btree (organization_id, incident_id, at);
alter table incident_changes enable row level security;
alter table incident_changes force row level security;
create policy every on incident_changes to tocsin_system using (true) with check (true);
create policy own on incident_changes to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on incident_changes to tocsin_app, tocsin_system;

-- Comments of people on incidents, in Markdown.
create table incident_comments (
  organization_id uuid not null,
  id uuid not null,
  incident_id uuid not null,
  at timestamp with time zone not null,
  body text not null,
  key_id text, -- API key that wrote the comment. Null for a session without a key.
  actor text, -- Person or key that signed in, if the comment was written with a session.
  person_id uuid, -- Person who wrote the comment. Null for a key.
  constraint incident_comments_pkey PRIMARY KEY (organization_id, id),
  constraint incident_comments_organization_id_incident_id_fkey FOREIGN KEY (organization_id, incident_id) REFERENCES incidents(organization_id, id) ON DELETE CASCADE,
  constraint incident_comments_organization_id_person_id_fkey FOREIGN KEY (organization_id, person_id) REFERENCES persons(organization_id, id)
);
CREATE INDEX incident_comments_organization_id_incident_id_at_idx ON incident_comments USING btree (organization_id, incident_id, at);
alter table incident_comments enable row level security;
alter table incident_comments force row level security;
create policy every on incident_comments to tocsin_system using (true) with check (true);
create policy own on incident_comments to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on incident_comments to tocsin_app, tocsin_system;

-- People who watch an incident, by choice or since a comment mentioned them.
create table incident_watchers (
  organization_id uuid not null,
  incident_id uuid not null,
  person_id uuid not null,
  watching boolean not null, -- False if the person stopped watching.
  mentioned_at timestamp with time zone, -- When a comment last mentioned the person, who has not opened the incident since. Null if there is no unread mention.
  constraint incident_watchers_pkey PRIMARY KEY (organization_id, incident_id, person_id),
  constraint incident_watchers_organization_id_incident_id_fkey FOREIGN KEY (organization_id, incident_id) REFERENCES incidents(organization_id, id) ON DELETE CASCADE,
  constraint incident_watchers_organization_id_person_id_fkey FOREIGN KEY (organization_id, person_id) REFERENCES persons(organization_id, id)
);
CREATE INDEX incident_watchers_organization_id_person_id_idx ON incident_watchers USING btree (organization_id, person_id);
alter table incident_watchers enable row level security;
alter table incident_watchers force row level security;
create policy every on incident_watchers to tocsin_system using (true) with check (true);
create policy own on incident_watchers to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on incident_watchers to tocsin_app, tocsin_system;

-- Hits that were written and are not yet placed in incidents. Written by the trigger of hits.
create table incident_queue (
  organization_id uuid not null,
  hit_id uuid not null,
  constraint incident_queue_pkey PRIMARY KEY (organization_id, hit_id),
  constraint incident_queue_organization_id_hit_id_fkey FOREIGN KEY (organization_id, hit_id) REFERENCES hits(organization_id, id) ON DELETE CASCADE
);
alter table incident_queue enable row level security;
alter table incident_queue force row level security;
create policy every on incident_queue to tocsin_system using (true) with check (true);
create policy own on incident_queue to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on incident_queue to tocsin_app, tocsin_system;

-- Calls of response agents that wait for the approval of a person, or got it.
create table agent_calls (
  organization_id uuid not null,
  id uuid not null,
  agent_id uuid not null,
  run_id uuid not null,
  hit_id uuid,
  tool text not null,
  input text not null, -- JSON of the arguments. What is approved is this text and no other.
  input_hash text not null, -- SHA-256 of tool and input.
  reason text not null default ''::text,
  state text not null default 'waiting'::text, -- waiting, declined, approved while it is executed, done or failed. One that waits after expires_at has expired.
  result text, -- What the executed call returned, or why it failed.
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  decided_at timestamp with time zone,
  key_id text, -- API key that decided.
  actor text, -- Person or key that signed in, if the call was decided with a session.
  constraint agent_calls_pkey PRIMARY KEY (organization_id, id),
  constraint agent_calls_organization_id_run_id_tool_input_hash_key UNIQUE (organization_id, run_id, tool, input_hash),
  constraint agent_calls_state_check CHECK (state = ANY (ARRAY['waiting'::text, 'approved'::text, 'done'::text, 'failed'::text, 'declined'::text])),
  constraint agent_calls_organization_id_agent_id_fkey FOREIGN KEY (organization_id, agent_id) REFERENCES agents(organization_id, id),
  constraint agent_calls_organization_id_hit_id_fkey FOREIGN KEY (organization_id, hit_id) REFERENCES hits(organization_id, id) ON DELETE CASCADE
);
CREATE INDEX agent_calls_organization_id_created_at_id_idx ON agent_calls USING btree (organization_id, created_at DESC, id DESC);
CREATE INDEX agent_calls_organization_id_hit_id_idx ON agent_calls USING btree (organization_id, hit_id) WHERE hit_id IS NOT NULL;
alter table agent_calls enable row level security;
alter table agent_calls force row level security;
create policy every on agent_calls to tocsin_system using (true) with check (true);
create policy own on agent_calls to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on agent_calls to tocsin_app, tocsin_system;

-- Number of hits of a detection by reviewed status, updated with every change of a status.
create table hit_reviews (
  organization_id uuid not null,
  detection_id uuid not null,
  true_positives integer not null default 0,
  benign integer not null default 0,
  false_positives integer not null default 0,
  constraint hit_reviews_pkey PRIMARY KEY (organization_id, detection_id),
  constraint hit_reviews_organization_id_detection_id_fkey FOREIGN KEY (organization_id, detection_id) REFERENCES agents(organization_id, id)
);
alter table hit_reviews enable row level security;
alter table hit_reviews force row level security;
create policy every on hit_reviews to tocsin_system using (true) with check (true);
create policy own on hit_reviews to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on hit_reviews to tocsin_app, tocsin_system;

-- What people know of entities: assets and identities. A model receives it with the candidates of the entity.
create table entity_notes (
  organization_id uuid not null,
  id uuid not null,
  entity text not null,
  entity_type text not null, -- Empty if the note is on entities of any type with this name.
  note text not null,
  key_id text, -- API key that wrote the note.
  actor text, -- Person or key that signed in, if the note was written with a session.
  updated_at timestamp with time zone not null,
  constraint entity_notes_pkey PRIMARY KEY (organization_id, id),
  constraint entity_notes_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id)
);
CREATE UNIQUE INDEX entity_notes_entity ON entity_notes USING btree (organization_id, md5(lower(entity)), entity_type);
CREATE INDEX entity_notes_organization_id_updated_at_id_idx ON entity_notes USING btree (organization_id, updated_at DESC, id DESC);
alter table entity_notes enable row level security;
alter table entity_notes force row level security;
create policy every on entity_notes to tocsin_system using (true) with check (true);
create policy own on entity_notes to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on entity_notes to tocsin_app, tocsin_system;

-- Names of entities that people joined or separated, and that logs state both. A decision of a person is deleted when a later one takes it back.
create table entity_decisions (
  organization_id uuid not null,
  id uuid not null,
  entity_type text not null,
  entity text not null, -- Canonical name of the entity when the decision was made.
  alias_type text not null,
  alias text not null,
  entity_stem uuid not null, -- MD5 of the stem, as in hit_values. A UUID, because row-level security lets only leakproof operators use an index.
  alias_stem uuid not null,
  is_joined boolean not null, -- False if the alias is another entity, whatever rules and lists say.
  source text not null,
  reason text,
  key_id text, -- API key that decided.
  actor text, -- Person or key that signed in, if the decision was made with a session.
  at timestamp with time zone not null,
  constraint entity_decisions_pkey PRIMARY KEY (organization_id, id),
  constraint entity_decisions_source_check CHECK (source = ANY (ARRAY['person'::text, 'log'::text])),
  constraint entity_decisions_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id)
);
CREATE INDEX entity_decisions_organization_id_alias_stem_idx ON entity_decisions USING btree (organization_id, alias_stem);
CREATE INDEX entity_decisions_organization_id_entity_stem_idx ON entity_decisions USING btree (organization_id, entity_stem);
alter table entity_decisions enable row level security;
alter table entity_decisions force row level security;
create policy every on entity_decisions to tocsin_system using (true) with check (true);
create policy own on entity_decisions to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
CREATE TRIGGER queue_named_hits AFTER INSERT OR DELETE ON entity_decisions FOR EACH ROW EXECUTE FUNCTION tocsin_queue_named_hits();
grant select, insert, update, delete on entity_decisions to tocsin_app, tocsin_system;

-- Lists and tables of values that detections share, such as entities that a detection allows.
create table value_lists (
  organization_id uuid not null,
  id uuid not null,
  name text not null,
  description text not null,
  list_columns text not null, -- JSON array of the names of the columns.
  list_values text not null, -- JSON array of the texts of the first column: exact values, patterns with `*`, and networks.
  list_rows text, -- JSON array with the cells of each row. Null for a list of one column.
  source text, -- JSON with where the rows are fetched from and how often, without the query. Null if they were sent.
  source_query text, -- The query that finds the rows. Null without one.
  next_check_at timestamp with time zone, -- When the rows are fetched next. Null without a source.
  claimed_until timestamp with time zone, -- Until when a process may fetch the rows. Null if none does.
  checked_at timestamp with time zone,
  failure text, -- Why the last fetch failed. Null if it did not.
  key_id text, -- API key that wrote the list last.
  actor text, -- Person or key that signed in, if the list was last written with a session.
  updated_at timestamp with time zone not null,
  constraint value_lists_pkey PRIMARY KEY (organization_id, id),
  constraint value_lists_organization_id_name_key UNIQUE (organization_id, name),
  constraint value_lists_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id)
);
CREATE INDEX value_lists_next_check_at_idx ON value_lists USING btree (next_check_at) WHERE next_check_at IS NOT NULL;
alter table value_lists enable row level security;
alter table value_lists force row level security;
create policy every on value_lists to tocsin_system using (true) with check (true);
create policy own on value_lists to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
CREATE TRIGGER queue_listed_hits AFTER INSERT OR DELETE OR UPDATE OF list_values ON value_lists FOR EACH ROW EXECUTE FUNCTION tocsin_queue_listed_hits();
grant select, insert, update, delete on value_lists to tocsin_app, tocsin_system;

-- Exceptions and snoozes of a detection, kept separate from its query.
create table exceptions (
  organization_id uuid not null,
  id uuid not null,
  detection_id uuid not null,
  kind text not null, -- exception, or snooze: covers one entity or the whole detection and always expires.
  entity text, -- Entity that is excluded. `*` stands for any text, as in the value. Null if a field is matched, or if the whole detection is snoozed.
  field text, -- Field whose value is matched.
  value text,
  list text, -- Value list that the value of the field, or else the entity, must be in.
  conditions text not null default '[]'::text, -- JSON array of further conditions, each with a field and either a value or a value list. Every row must satisfy all of them.
  reason text not null,
  owner text, -- Name of the person who answers for the exception.
  hit_ids uuid[] not null default '{}'::uuid[], -- Hits because of which the exception exists.
  key_id text, -- API key that created the exception.
  actor text, -- Person or key that signed in, if the exception was created with a session.
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone,
  matches integer not null default 0, -- Number of candidates that the exception muted.
  muted_rows bigint not null default 0, -- Number of rows of these candidates.
  last_matched_at timestamp with time zone,
  latest_ids uuid[] not null default '{}'::uuid[], -- The candidates that it muted last, latest first.
  announced_at timestamp with time zone, -- When `exception.ending` was emitted.
  constraint exceptions_pkey PRIMARY KEY (organization_id, id),
  constraint exceptions_kind_check CHECK (kind = ANY (ARRAY['exception'::text, 'snooze'::text])),
  constraint exceptions_organization_id_detection_id_fkey FOREIGN KEY (organization_id, detection_id) REFERENCES agents(organization_id, id)
);
CREATE INDEX exceptions_organization_id_detection_id_created_at_id_idx ON exceptions USING btree (organization_id, detection_id, created_at DESC, id DESC);
alter table exceptions enable row level security;
alter table exceptions force row level security;
create policy every on exceptions to tocsin_system using (true) with check (true);
create policy own on exceptions to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
CREATE TRIGGER queue_muted_rehearsal AFTER INSERT OR DELETE ON exceptions FOR EACH ROW EXECUTE FUNCTION tocsin_queue_muted_rehearsal();
grant select, insert, update, delete on exceptions to tocsin_app, tocsin_system;

-- Queue of finished runs whose acceptance criteria still have to be graded (grade), or that a shadow version still has to judge (shadow).
create table run_reviews (
  organization_id uuid not null,
  run_id uuid not null,
  kind text not null,
  detection_id uuid not null,
  due_at timestamp with time zone not null, -- The run's due_at, which selects its partition.
  day date not null, -- UTC day on which the run finished. See run_days.
  failures integer not null default 0,
  retry_at timestamp with time zone not null default now(), -- Earliest attempt, by the clock of the database.
  lease_until timestamp with time zone, -- End of the lease, by the clock of the database.
  constraint run_reviews_pkey PRIMARY KEY (organization_id, run_id, kind),
  constraint run_reviews_kind_check CHECK (kind = ANY (ARRAY['grade'::text, 'shadow'::text])),
  constraint run_reviews_organization_id_detection_id_fkey FOREIGN KEY (organization_id, detection_id) REFERENCES agents(organization_id, id)
);
CREATE INDEX run_reviews_retry_at_idx ON run_reviews USING btree (retry_at);
alter table run_reviews enable row level security;
alter table run_reviews force row level security;
create policy every on run_reviews to tocsin_system using (true) with check (true);
create policy own on run_reviews to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on run_reviews to tocsin_app, tocsin_system;

-- Verdicts of the shadow version compared with those of the detection.
create table shadow_verdicts (
  organization_id uuid not null,
  candidate_id uuid not null,
  detection_id uuid not null,
  run_id uuid not null,
  at timestamp with time zone not null,
  differs text[] not null default '{}'::text[], -- Parts in which the verdicts differ: triggered, severity, confidence, evidence.
  compared text not null, -- JSON of both verdicts.
  constraint shadow_verdicts_pkey PRIMARY KEY (organization_id, candidate_id),
  constraint shadow_verdicts_organization_id_detection_id_fkey FOREIGN KEY (organization_id, detection_id) REFERENCES agents(organization_id, id)
);
CREATE INDEX shadow_verdicts_organization_id_detection_id_at_idx ON shadow_verdicts USING btree (organization_id, detection_id, at DESC);
alter table shadow_verdicts enable row level security;
alter table shadow_verdicts force row level security;
create policy every on shadow_verdicts to tocsin_system using (true) with check (true);
create policy own on shadow_verdicts to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on shadow_verdicts to tocsin_app, tocsin_system;

-- Rows that a hunt found and a person added to an incident. Copies, which outlive the hunt and its runs.
create table incident_findings (
  organization_id uuid not null,
  id uuid not null,
  incident_id uuid not null,
  at timestamp with time zone not null, -- Time of the row, else when it was added.
  hunt_id uuid not null, -- The hunt, which may be deleted.
  hunt_name text not null,
  finding_key text not null, -- Identifies the row among the runs of all hunts.
  query text not null, -- The query that returned the row.
  dataset text,
  row_id text not null,
  entity text,
  fields text not null, -- JSON object of the cells of the row as text.
  added_at timestamp with time zone not null,
  key_id text, -- API key that added the row. Null for a session without a key.
  actor text, -- Person or key that signed in, if the row was added with a session.
  constraint incident_findings_pkey PRIMARY KEY (organization_id, id),
  constraint incident_findings_organization_id_incident_id_finding_key_key UNIQUE (organization_id, incident_id, finding_key),
  constraint incident_findings_organization_id_incident_id_fkey FOREIGN KEY (organization_id, incident_id) REFERENCES incidents(organization_id, id) ON DELETE CASCADE
);
CREATE INDEX incident_findings_organization_id_finding_key_idx ON incident_findings USING btree (organization_id, finding_key);
alter table incident_findings enable row level security;
alter table incident_findings force row level security;
create policy every on incident_findings to tocsin_system using (true) with check (true);
create policy own on incident_findings to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on incident_findings to tocsin_app, tocsin_system;

-- Saved questions over a span of the past.
create table hunts (
  organization_id uuid not null,
  id uuid not null,
  name text not null,
  kind text not null, -- sql, indicators or technique.
  question text not null, -- The query, one indicator per line, or the ID of an ATT&CK technique.
  words text, -- What the query is to find, in plain words. Null if nobody said it.
  row_meaning text, -- What a row of the query means, in one sentence. Null if nobody said it.
  connection_id uuid, -- Connection to search. Null for the embedded store, and for techniques.
  span_days integer, -- The days before a run. Null if from_at and to_at are set.
  from_at timestamp with time zone,
  to_at timestamp with time zone,
  cadence text, -- daily or weekly. Null: runs when a person asks.
  next_run_at timestamp with time zone,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint hunts_pkey PRIMARY KEY (organization_id, id),
  constraint hunts_organization_id_name_key UNIQUE (organization_id, name),
  constraint hunts_check CHECK ((span_days IS NULL) = (from_at IS NOT NULL AND to_at IS NOT NULL)),
  constraint hunts_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id)
);
CREATE INDEX hunts_next_run_at_idx ON hunts USING btree (next_run_at);
alter table hunts enable row level security;
alter table hunts force row level security;
create policy every on hunts to tocsin_system using (true) with check (true);
create policy own on hunts to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on hunts to tocsin_app, tocsin_system;

-- Runs of hunts.
create table hunt_runs (
  organization_id uuid not null,
  id uuid not null,
  hunt_id uuid not null,
  state text not null, -- queued, running, completed or failed.
  is_scheduled boolean not null,
  question text not null, -- JSON of kind, question and connection as they were.
  from_at timestamp with time zone not null,
  to_at timestamp with time zone not null,
  attempts integer not null default 0,
  lease_until timestamp with time zone, -- Until when a process works on the run. Another one repeats it afterwards.
  previous_run_id uuid, -- The run of the same question with which this one is compared. Null for the first one.
  findings integer not null default 0,
  new_findings integer not null default 0,
  gone_findings integer not null default 0, -- Findings of the previous run that this one does not have, although its span does.
  is_complete boolean not null default true, -- False if the run reached a limit or a query failed.
  queries text not null default '[]'::text, -- JSON array of the queries that returned findings.
  queries_sent integer not null default 0,
  warnings text not null default '[]'::text, -- JSON array of sentences.
  failure text,
  ms integer,
  created_at timestamp with time zone not null,
  finished_at timestamp with time zone,
  constraint hunt_runs_pkey PRIMARY KEY (organization_id, id),
  constraint hunt_runs_organization_id_hunt_id_fkey FOREIGN KEY (organization_id, hunt_id) REFERENCES hunts(organization_id, id) ON DELETE CASCADE
);
CREATE INDEX hunt_runs_created_at_idx ON hunt_runs USING btree (created_at) WHERE state = ANY (ARRAY['queued'::text, 'running'::text]);
CREATE INDEX hunt_runs_organization_id_hunt_id_created_at_idx ON hunt_runs USING btree (organization_id, hunt_id, created_at);
CREATE UNIQUE INDEX hunt_runs_organization_id_hunt_id_idx ON hunt_runs USING btree (organization_id, hunt_id) WHERE state = ANY (ARRAY['queued'::text, 'running'::text]);
alter table hunt_runs enable row level security;
alter table hunt_runs force row level security;
create policy every on hunt_runs to tocsin_system using (true) with check (true);
create policy own on hunt_runs to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on hunt_runs to tocsin_app, tocsin_system;

-- Rows that runs of hunts found.
create table hunt_findings (
  organization_id uuid not null,
  id uuid not null,
  run_id uuid not null,
  finding_key text not null, -- Identifies the same row in other runs: hash of its dataset and ID, or for groups of its values without numbers and times.
  is_new boolean not null, -- Whether the previous run does not have it.
  at timestamp with time zone,
  dataset text,
  row_id text not null,
  entity text,
  detail text, -- The indicator or detection that matched. Null for queries.
  fields text not null, -- JSON object of the cells of the row as text.
  query_index integer not null, -- Place of its query in queries of the run.
  constraint hunt_findings_pkey PRIMARY KEY (organization_id, id),
  constraint hunt_findings_organization_id_run_id_finding_key_key UNIQUE (organization_id, run_id, finding_key),
  constraint hunt_findings_organization_id_run_id_fkey FOREIGN KEY (organization_id, run_id) REFERENCES hunt_runs(organization_id, id) ON DELETE CASCADE
);
alter table hunt_findings enable row level security;
alter table hunt_findings force row level security;
create policy every on hunt_findings to tocsin_system using (true) with check (true);
create policy own on hunt_findings to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on hunt_findings to tocsin_app, tocsin_system;

-- Events, inserted in the transaction of the change that they report. Partitioned by month.
create table outbox (
  organization_id uuid not null,
  id uuid not null,
  at timestamp with time zone not null,
  type text not null,
  resource_id text not null, -- Id of the changed resource.
  body text not null, -- JSON of the event.
  constraint outbox_pkey PRIMARY KEY (at, id)
) partition by RANGE (at);
create table outbox_default partition of outbox DEFAULT;
CREATE INDEX outbox_organization_id_id_idx ON ONLY outbox USING btree (organization_id, id);
alter table outbox enable row level security;
alter table outbox force row level security;
create policy every on outbox to tocsin_system using (true) with check (true);
create policy own on outbox to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on outbox to tocsin_app, tocsin_system;

-- Destinations of events.
create table destinations (
  organization_id uuid not null,
  id uuid not null,
  kind text not null, -- A key of `destinationKinds`, which the service checks.
  name text not null,
  shown_url text not null, -- URL without its secret parts.
  settings jsonb not null default '{}'::jsonb, -- Settings of the kind, without secrets.
  sealed bytea not null, -- URL, credentials and signing secret, encrypted with TOCSIN_SECRET_KEY.
  event_types text[] not null,
  detection_ids uuid[], -- Detections whose events are delivered. Null for all detections.
  min_severity text, -- Lowest severity that is delivered. Null for all.
  tags text[], -- Tags of detections whose hits are delivered. Null for all.
  entity_lists text[], -- Value lists of entities whose hits and incidents are delivered. Null for all.
  hours jsonb, -- timeZone, days, from and to: when events are delivered. Null for always.
  enabled boolean not null default true,
  disabled_reason text,
  failures integer not null default 0, -- Consecutive failed attempts. A failing destination receives one delivery at a time.
  tickets_due_at timestamp with time zone not null default clock_timestamp(), -- When its open tickets are read next, by the clock of the database.
  tickets_until timestamp with time zone, -- Last change of a ticket that was read, by the clock of the other system. Null before the first.
  tickets_failures integer not null default 0, -- Consecutive failures to read tickets.
  tickets_error text, -- Why tickets could not be read the last time. Null if they could.
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint destinations_pkey PRIMARY KEY (organization_id, id),
  constraint destinations_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id)
);
CREATE INDEX destinations_tickets_due_at_idx ON destinations USING btree (tickets_due_at);
alter table destinations enable row level security;
alter table destinations force row level security;
create policy every on destinations to tocsin_system using (true) with check (true);
create policy own on destinations to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on destinations to tocsin_app, tocsin_system;

-- One row per event and destination.
create table deliveries (
  organization_id uuid not null,
  id uuid not null,
  destination_id uuid not null,
  event_id uuid not null,
  event_at timestamp with time zone not null, -- The event's time, which selects its partition of the outbox.
  event_type text not null,
  resource_id text not null,
  state text not null default 'pending'::text,
  tries integer not null default 0, -- Number of attempts. Fences the result: only the latest attempt may record one.
  tries_max integer not null default 10,
  next_try_at timestamp with time zone default clock_timestamp(), -- Next attempt, by the clock of the database. A claim moves it forward by the lease, so that another worker takes over if the claiming one dies.
  last_try_at timestamp with time zone,
  last_status integer, -- HTTP status of the last attempt. Null if there was no response.
  last_error text,
  last_ms integer, -- Duration of the last attempt in milliseconds.
  created_at timestamp with time zone not null,
  constraint deliveries_pkey PRIMARY KEY (organization_id, id),
  constraint deliveries_state_check CHECK (state = ANY (ARRAY['pending'::text, 'delivered'::text, 'failed'::text])),
  constraint deliveries_organization_id_destination_id_fkey FOREIGN KEY (organization_id, destination_id) REFERENCES destinations(organization_id, id) ON DELETE CASCADE
);
CREATE INDEX deliveries_due ON deliveries USING btree (organization_id, destination_id, next_try_at) WHERE state = 'pending'::text;
CREATE INDEX deliveries_ended ON deliveries USING btree (created_at) WHERE state <> 'pending'::text;
CREATE INDEX deliveries_organization_id_destination_id_created_at_id_idx ON deliveries USING btree (organization_id, destination_id, created_at DESC, id DESC);
CREATE INDEX deliveries_organization_id_resource_id_idx ON deliveries USING btree (organization_id, resource_id);
CREATE INDEX deliveries_waiting ON deliveries USING btree (organization_id, event_id) WHERE state = 'pending'::text;
alter table deliveries enable row level security;
alter table deliveries force row level security;
create policy every on deliveries to tocsin_system using (true) with check (true);
create policy own on deliveries to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on deliveries to tocsin_app, tocsin_system;

-- Alerts and tickets that destinations keep about a resource.
create table tickets (
  organization_id uuid not null,
  destination_id uuid not null,
  resource_id text not null,
  reference text not null, -- Name of the alert or ticket in the other system.
  state text not null, -- State that the other system was last told.
  revision bigint not null, -- Revision of the last event that was sent. Earlier ones are skipped.
  updated_at timestamp with time zone not null, -- When the other system was last told about the resource.
  read_at timestamp with time zone, -- Last change of the ticket that was read, by the clock of the other system.
  comment_id bigint not null default 0, -- Largest ID of a comment there that was read.
  closed_there boolean default false, -- Whether it was closed there when it was last read, while it is open here. Null after this service changed its state.
  constraint tickets_pkey PRIMARY KEY (organization_id, destination_id, resource_id),
  constraint tickets_state_check CHECK (state = ANY (ARRAY['open'::text, 'acknowledged'::text, 'closed'::text])),
  constraint tickets_organization_id_destination_id_fkey FOREIGN KEY (organization_id, destination_id) REFERENCES destinations(organization_id, id) ON DELETE CASCADE
);
CREATE INDEX tickets_updated_at_idx ON tickets USING btree (updated_at);
alter table tickets enable row level security;
alter table tickets force row level security;
create policy every on tickets to tocsin_system using (true) with check (true);
create policy own on tickets to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on tickets to tocsin_app, tocsin_system;

-- Datasets of the embedded log store.
create table datasets (
  organization_id uuid not null,
  name text not null,
  created_at timestamp with time zone not null,
  last_ingested_at timestamp with time zone, -- Publication time of the latest batch. Strictly increasing; assigned under the lock of this row.
  sealed_until timestamp with time zone, -- Watermark: no batch is published before this time any more, so windows up to it are complete.
  events bigint not null default 0,
  first_event_at timestamp with time zone,
  last_event_at timestamp with time zone,
  catalogue_version integer not null default 0, -- Incremented whenever dataset_columns changes.
  constraint datasets_pkey PRIMARY KEY (organization_id, name),
  constraint datasets_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id)
);
alter table datasets enable row level security;
alter table datasets force row level security;
create policy every on datasets to tocsin_system using (true) with check (true);
create policy own on datasets to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on datasets to tocsin_app, tocsin_system;

-- Columns of a dataset. Columns are only added. Their types follow dataset_statistics unless a user declares them.
create table dataset_columns (
  organization_id uuid not null,
  dataset text not null,
  name text not null,
  type text not null,
  "position" integer not null,
  keys text[] not null, -- Spellings of the top-level key. The engine's column names are case-insensitive.
  nested text, -- JSON of the known paths inside the objects of the column.
  open boolean not null default false, -- True if the objects have more keys than nested lists.
  mixed boolean not null default false, -- True if the column has had values that do not fit its type.
  any_spelling boolean not null default false, -- True if the key has more spellings than keys lists.
  declared text, -- Type that a user declared. Null if the type follows the data.
  stored_name text, -- Name of the column in Parquet files. Null as long as no file has the column.
  stored_type text, -- Type of the column in Parquet files. Never changes, unlike type, so that all files agree.
  stored_position integer, -- Place in the order in which columns were first stored. A file has the first ones of this order.
  constraint dataset_columns_pkey PRIMARY KEY (organization_id, dataset, name),
  constraint dataset_columns_organization_id_dataset_fkey FOREIGN KEY (organization_id, dataset) REFERENCES datasets(organization_id, name)
);
CREATE UNIQUE INDEX dataset_columns_organization_id_dataset_stored_position_idx ON dataset_columns USING btree (organization_id, dataset, stored_position) WHERE stored_position IS NOT NULL;
alter table dataset_columns enable row level security;
alter table dataset_columns force row level security;
create policy every on dataset_columns to tocsin_system using (true) with check (true);
create policy own on dataset_columns to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on dataset_columns to tocsin_app, tocsin_system;

-- What the values of a dataset's columns have been. Updated with every batch, unlike dataset_columns.
create table dataset_statistics (
  organization_id uuid not null,
  dataset text not null,
  columns text not null, -- JSON list of columns with their number of values by type and their latest values of another type.
  constraint dataset_statistics_pkey PRIMARY KEY (organization_id, dataset),
  constraint dataset_statistics_organization_id_dataset_fkey FOREIGN KEY (organization_id, dataset) REFERENCES datasets(organization_id, name)
);
alter table dataset_statistics enable row level security;
alter table dataset_statistics force row level security;
create policy every on dataset_statistics to tocsin_system using (true) with check (true);
create policy own on dataset_statistics to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on dataset_statistics to tocsin_app, tocsin_system;

-- Number of events by hour of arrival, without history. Kept for 17 days.
create table dataset_hours (
  organization_id uuid not null,
  dataset text not null,
  hour timestamp with time zone not null,
  events bigint not null,
  constraint dataset_hours_pkey PRIMARY KEY (organization_id, dataset, hour),
  constraint dataset_hours_organization_id_dataset_fkey FOREIGN KEY (organization_id, dataset) REFERENCES datasets(organization_id, name)
);
alter table dataset_hours enable row level security;
alter table dataset_hours force row level security;
create policy every on dataset_hours to tocsin_system using (true) with check (true);
create policy own on dataset_hours to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on dataset_hours to tocsin_app, tocsin_system;

-- Number and size of the received events by UTC day, history included. Written with each batch under the lock of its dataset.
create table dataset_days (
  organization_id uuid not null,
  day date not null,
  dataset text not null,
  events bigint not null,
  bytes bigint not null, -- Size of the events as stored when they arrive, uncompressed.
  constraint dataset_days_pkey PRIMARY KEY (organization_id, day, dataset),
  constraint dataset_days_organization_id_dataset_fkey FOREIGN KEY (organization_id, dataset) REFERENCES datasets(organization_id, name)
);
alter table dataset_days enable row level security;
alter table dataset_days force row level security;
create policy every on dataset_days to tocsin_system using (true) with check (true);
create policy own on dataset_days to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on dataset_days to tocsin_app, tocsin_system;

-- Whether a dataset receives as much as usual.
create table dataset_health (
  organization_id uuid not null,
  dataset text not null,
  checked_until timestamp with time zone not null, -- End of the last hour that was compared with earlier days.
  since timestamp with time zone, -- Start of the shortfall. Null, like the columns after it, if the dataset receives as much as usual.
  hours integer, -- Length of the span in which the shortfall was noticed.
  events bigint,
  expected bigint, -- The least that arrived in the same hours of an earlier day.
  constraint dataset_health_pkey PRIMARY KEY (organization_id, dataset),
  constraint dataset_health_organization_id_dataset_fkey FOREIGN KEY (organization_id, dataset) REFERENCES datasets(organization_id, name)
);
alter table dataset_health enable row level security;
alter table dataset_health force row level security;
create policy every on dataset_health to tocsin_system using (true) with check (true);
create policy own on dataset_health to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on dataset_health to tocsin_app, tocsin_system;

-- Received batches. A body that is sent again within 24 hours is recognized by its hash.
create table log_batches (
  organization_id uuid not null,
  id uuid not null,
  dataset text not null,
  body_hash bytea not null, -- Hash of the uncompressed body and its options.
  history boolean not null default false, -- True for past events, which are not part of scheduled windows.
  accepted integer not null,
  rejected integer not null,
  received_at timestamp with time zone not null,
  constraint log_batches_pkey PRIMARY KEY (organization_id, id),
  constraint log_batches_organization_id_dataset_fkey FOREIGN KEY (organization_id, dataset) REFERENCES datasets(organization_id, name)
);
CREATE INDEX log_batches_organization_id_dataset_body_hash_received_at_idx ON log_batches USING btree (organization_id, dataset, body_hash, received_at DESC);
alter table log_batches enable row level security;
alter table log_batches force row level security;
create policy every on log_batches to tocsin_system using (true) with check (true);
create policy own on log_batches to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on log_batches to tocsin_app, tocsin_system;

-- IDs that shippers gave their events in the last 24 hours. An event whose ID is listed is not stored again.
create table log_event_ids (
  organization_id uuid not null,
  id_hash uuid not null, -- The first 128 bits of the SHA-256 of dataset and ID.
  received_at timestamp with time zone not null default now(),
  constraint log_event_ids_pkey PRIMARY KEY (organization_id, id_hash),
  constraint log_event_ids_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id)
);
CREATE INDEX log_event_ids_received_at_idx ON log_event_ids USING brin (received_at);
alter table log_event_ids enable row level security;
alter table log_event_ids force row level security;
create policy every on log_event_ids to tocsin_system using (true) with check (true);
create policy own on log_event_ids to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on log_event_ids to tocsin_app, tocsin_system;

-- Files of the log store. A file that is not listed does not exist for queries and is removed later.
create table segments (
  organization_id uuid not null,
  id uuid not null,
  dataset text not null,
  path text not null,
  format text not null, -- text (one batch) or typed (compacted batches, a Parquet file with typed columns).
  history boolean not null default false, -- True for past events, which are not part of scheduled windows.
  ingested_from timestamp with time zone not null, -- Earliest publication time of its rows.
  ingested_to timestamp with time zone not null,
  time_from timestamp with time zone not null, -- Earliest event time of its rows.
  time_to timestamp with time zone not null,
  rows bigint not null,
  bytes bigint not null,
  sha256 text, -- Hash of the file in hexadecimal. Null if the file is in a folder and not in object storage.
  columns integer not null default 0, -- Number of columns of events in a Parquet file. In a typed one the first ones by stored_position, at most 200. 0 for text.
  drift text, -- JSON of the number of values that did not fit their column, by column. Null without such values.
  created_at timestamp with time zone not null,
  replaced_at timestamp with time zone, -- When compaction replaced the file. It is removed once no query can still be reading it.
  published boolean not null default false, -- True if the file lies in the layout for other engines, below dataset=….
  constraint segments_pkey PRIMARY KEY (organization_id, id),
  constraint segments_organization_id_dataset_fkey FOREIGN KEY (organization_id, dataset) REFERENCES datasets(organization_id, name)
);
CREATE INDEX segments_organization_id_dataset_ingested_from_idx ON segments USING btree (organization_id, dataset, ingested_from) WHERE replaced_at IS NULL AND NOT published;
CREATE INDEX segments_organization_id_dataset_ingested_to_idx ON segments USING btree (organization_id, dataset, ingested_to) WHERE replaced_at IS NULL;
CREATE INDEX segments_organization_id_dataset_time_to_idx ON segments USING btree (organization_id, dataset, time_to) WHERE replaced_at IS NULL;
CREATE INDEX segments_replaced_at_idx ON segments USING btree (replaced_at) WHERE replaced_at IS NOT NULL;
alter table segments enable row level security;
alter table segments force row level security;
create policy every on segments to tocsin_system using (true) with check (true);
create policy own on segments to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
CREATE TRIGGER note_published AFTER INSERT ON segments REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION tocsin_note_published();
CREATE TRIGGER note_replaced AFTER UPDATE ON segments REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION tocsin_note_published();
grant select, insert, update, delete on segments to tocsin_app, tocsin_system;

-- Lists of published files that other engines read: the file _manifest.json of each dataset.
create table dataset_manifests (
  organization_id uuid not null,
  dataset text not null,
  version bigint not null default 1, -- Incremented whenever the published files of the dataset change.
  written_version bigint not null default 0, -- Version that the file in the store has.
  constraint dataset_manifests_pkey PRIMARY KEY (organization_id, dataset),
  constraint dataset_manifests_organization_id_dataset_fkey FOREIGN KEY (organization_id, dataset) REFERENCES datasets(organization_id, name)
);
CREATE INDEX dataset_manifests_organization_id_dataset_idx ON dataset_manifests USING btree (organization_id, dataset) WHERE version <> written_version;
alter table dataset_manifests enable row level security;
alter table dataset_manifests force row level security;
create policy every on dataset_manifests to tocsin_system using (true) with check (true);
create policy own on dataset_manifests to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on dataset_manifests to tocsin_app, tocsin_system;

-- Folders of log files that are pulled, by their name in TOCSIN_LOG_FOLDERS.
create table log_folders (
  organization_id uuid not null,
  name text not null,
  lease_until timestamp with time zone, -- Until when one process reads the folder, by the clock of the database.
  constraint log_folders_pkey PRIMARY KEY (organization_id, name),
  constraint log_folders_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id)
);
alter table log_folders enable row level security;
alter table log_folders force row level security;
create policy every on log_folders to tocsin_system using (true) with check (true);
create policy own on log_folders to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on log_folders to tocsin_app, tocsin_system;

-- Objects that were read from a folder, as long as it is searched for objects of their age.
create table log_folder_objects (
  organization_id uuid not null,
  folder text not null,
  object_key text not null,
  version text not null, -- What identifies the content: the entity tag, or the size and time of a file.
  modified_at timestamp with time zone not null,
  problem text, -- Why no events of the object were stored, if they could not be.
  constraint log_folder_objects_pkey PRIMARY KEY (organization_id, folder, object_key),
  constraint log_folder_objects_organization_id_folder_fkey FOREIGN KEY (organization_id, folder) REFERENCES log_folders(organization_id, name)
);
alter table log_folder_objects enable row level security;
alter table log_folder_objects force row level security;
create policy every on log_folder_objects to tocsin_system using (true) with check (true);
create policy own on log_folder_objects to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on log_folder_objects to tocsin_app, tocsin_system;

-- The data directory that holds the log files of this installation. It has exactly one row.
create table log_store (
  one boolean not null default true,
  directory_id uuid, -- The content of logs/directory-id in that directory. Null until a process has started with one.
  constraint log_store_pkey PRIMARY KEY (one),
  constraint log_store_one_check CHECK (one)
);
alter table log_store enable row level security;
alter table log_store force row level security;
create policy claim on log_store for update to tocsin_system using (true);
create policy read on log_store for select to tocsin_app, tocsin_system using (true);
grant select, update on log_store to tocsin_system;

-- Sets of items with one audience.
create table feed_pools (
  id uuid not null,
  organization_id uuid, -- Owner. Null for the public pool.
  kind text not null,
  assigned_to uuid[], -- Organizations that see an assigned pool.
  seq bigint not null default 0, -- Sequence number of the latest change. Assigned to the changed items under the lock of this row.
  last_added_at timestamp with time zone not null default '1970-01-01 00:00:00+00'::timestamp with time zone, -- Time at which the latest item was added.
  constraint feed_pools_pkey PRIMARY KEY (id),
  constraint feed_pools_kind_check CHECK (kind = ANY (ARRAY['public'::text, 'assigned'::text, 'private'::text])),
  constraint feed_pools_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id)
);
CREATE UNIQUE INDEX one_private_pool ON feed_pools USING btree (organization_id) WHERE kind = 'private'::text;
alter table feed_pools enable row level security;
alter table feed_pools force row level security;
create policy deleted on feed_pools for delete to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
create policy every on feed_pools to tocsin_system using (true) with check (true);
create policy inserted on feed_pools for insert to tocsin_app with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
create policy updated on feed_pools for update to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
create policy visible on feed_pools for select to tocsin_app using (((kind = 'public'::text) OR (organization_id = ( SELECT tocsin_org() AS tocsin_org)) OR ((kind = 'assigned'::text) AND (( SELECT tocsin_org() AS tocsin_org) = ANY (assigned_to)))));
grant select, insert, update, delete on feed_pools to tocsin_app, tocsin_system;

-- Sources that the feed is pulled from.
create table feed_sources (
  organization_id uuid not null,
  id uuid not null,
  visibility text not null,
  assigned_to uuid[], -- Organizations that see a shared source. Null for all organizations.
  pool_id uuid not null, -- Pool of its items, unless an item's TLP marking restricts it to the private pool.
  kind text not null,
  name text not null,
  url text not null,
  file_allowed boolean not null default false, -- True if the source may read a file: URL, because it was created on the command line or the URL is below a directory of TOCSIN_FILE_SOURCES.
  sealed_auth bytea, -- Credentials (a password, token or key), encrypted with TOCSIN_SECRET_KEY.
  sightings text, -- JSON: url and tlpMax, where sightings of its items are sent. Null if none are.
  sightings_error text, -- Why sightings could not be sent the last time. Null if they could.
  publisher text,
  tlp text,
  license text,
  reliability numeric(3,2) not null default 0.5, -- From 0 to 1.
  include text not null default '[]'::text, -- JSON array of words. Records that contain none of them are skipped.
  exclude text not null default '[]'::text, -- JSON array of words. Records that contain one of them are skipped.
  schedule text, -- Cron expression of the pulls.
  enabled boolean not null default true,
  next_pull_at timestamp with time zone,
  lease_until timestamp with time zone,
  worker text,
  failures integer not null default 0, -- Consecutive failed pulls.
  etag text, -- ETag header of the last successful pull, for a conditional request.
  last_modified text, -- Last-Modified header of the last successful pull, for a conditional request.
  cursor text not null default '{}'::text, -- JSON of the position after the last successful pull.
  last_pull_at timestamp with time zone,
  last_success_at timestamp with time zone,
  last_new_at timestamp with time zone, -- Last pull that added an item.
  last_error text,
  last_result text, -- JSON summary of the last pull.
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  deleted_at timestamp with time zone,
  constraint feed_sources_pkey PRIMARY KEY (organization_id, id),
  constraint feed_sources_id_key UNIQUE (id),
  constraint feed_sources_visibility_check CHECK (visibility = ANY (ARRAY['private'::text, 'shared'::text])),
  constraint feed_sources_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  constraint feed_sources_pool_id_fkey FOREIGN KEY (pool_id) REFERENCES feed_pools(id)
);
CREATE INDEX feed_sources_lease_until_idx ON feed_sources USING btree (lease_until) WHERE lease_until IS NOT NULL;
CREATE INDEX feed_sources_next_pull_at_idx ON feed_sources USING btree (next_pull_at) WHERE enabled AND deleted_at IS NULL;
alter table feed_sources enable row level security;
alter table feed_sources force row level security;
create policy every on feed_sources to tocsin_system using (true) with check (true);
create policy own on feed_sources to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
create policy shared on feed_sources for select to tocsin_app using (((visibility = 'shared'::text) AND ((assigned_to IS NULL) OR (( SELECT tocsin_org() AS tocsin_org) = ANY (assigned_to)))));
grant select, insert, update, delete on feed_sources to tocsin_app, tocsin_system;

-- Items of the feed, in their current version.
create table items (
  organization_id uuid not null, -- Owner: the organization of the source, or the one that posted the item.
  id uuid not null,
  pool_id uuid not null,
  source_id uuid, -- Source. Null for a posted item.
  record_id text not null, -- Id of the record in its source. For a posted item, derived from its text.
  generation integer not null default 1, -- Counts the items made from the same record. A record that returns after its item was retracted starts a new generation.
  record_hash text not null, -- Hash of the record as the source sent it. Distinguishes a change of the source from a change of our extraction.
  record_modified_at timestamp with time zone, -- Time of the last change according to the source.
  missing_pulls integer not null default 0, -- Consecutive successful pulls without the record.
  version integer not null default 1,
  content_hash text not null, -- Hash of the extracted content. An item with an unchanged hash gets no new version.
  severity text not null,
  severity_rule text not null, -- Rule that decided the severity, followed by references to the passages on which it relies.
  status text not null, -- active, corrected or retracted.
  publisher text not null,
  source_name text not null,
  platforms text[] not null default '{}'::text[],
  title text not null,
  publish_time timestamp with time zone,
  doc text not null, -- JSON document that the API returns.
  next_expiry_at timestamp with time zone, -- When the next indicator in doc expires. Until then, doc can be returned unparsed.
  reading integer not null default 0, -- Version of the extraction that produced the item. Items of an older version are analyzed again.
  canonical_key text not null, -- Identity across sources, such as cve:CVE-2024-0001 or a normalized URL. Items with the same key are duplicates.
  duplicate_of uuid, -- Root of the item's group of duplicates. Null for a root.
  related uuid[] not null default '{}'::uuid[], -- Earlier items that this item follows.
  sketch text, -- MinHash sketch of the text, for comparison with other texts. Null if the text is too short.
  identifying integer not null default 0, -- Number of identifying indicators. See item_terms.identifying.
  own_doc text, -- Document of a root without the aggregated figures of its group. Null if it does not differ from doc.
  held_back text, -- Document of an item that a person retracted, as it was before. While set, only a person can change the item.
  seq bigint not null, -- Sequence number of the pool at the item's last change.
  added_to_feed_at timestamp with time zone not null,
  created_at timestamp with time zone not null,
  last_updated timestamp with time zone not null,
  constraint items_pkey PRIMARY KEY (id) INCLUDE (pool_id, seq, added_to_feed_at, severity, status, publisher, source_name, platforms, duplicate_of),
  constraint items_source_id_record_id_generation_key UNIQUE (source_id, record_id, generation)
) with (toast_tuple_target=4080);
CREATE INDEX items_canonical_key_pool_id_idx ON items USING btree (canonical_key, pool_id);
CREATE INDEX items_held_back ON items USING btree (id) WHERE held_back IS NOT NULL;
CREATE INDEX items_in_change_order ON items USING btree (pool_id, seq, id);
CREATE INDEX items_listed ON items USING btree (pool_id, added_to_feed_at DESC, id DESC) INCLUDE (seq, severity, status, publisher, source_name, platforms, duplicate_of, last_updated);
CREATE INDEX items_members ON items USING btree (duplicate_of) INCLUDE (id, pool_id, seq, severity, status, publisher, source_name, platforms) WHERE duplicate_of IS NOT NULL;
CREATE INDEX items_not_active ON items USING btree (pool_id, status, added_to_feed_at DESC, id DESC) INCLUDE (seq, severity, publisher, source_name, platforms, duplicate_of) WHERE status <> 'active'::text;
CREATE INDEX items_reading_idx ON items USING btree (reading);
CREATE INDEX items_source_id_added_to_feed_at_idx ON items USING btree (source_id, added_to_feed_at DESC);
CREATE INDEX items_updated ON items USING btree (pool_id, last_updated, added_to_feed_at, id) INCLUDE (seq, severity, status, publisher, source_name, platforms, duplicate_of) WHERE last_updated > added_to_feed_at;
CREATE UNIQUE INDEX one_item_of_a_posted_text ON items USING btree (organization_id, record_id, generation) WHERE source_id IS NULL;
alter table items enable row level security;
alter table items force row level security;
create policy deleted on items for delete to tocsin_app using ((pool_id IN ( SELECT p.id
   FROM feed_pools p
  WHERE (p.organization_id = ( SELECT tocsin_org() AS tocsin_org)))));
create policy every on items to tocsin_system using (true) with check (true);
create policy inserted on items for insert to tocsin_app with check ((pool_id IN ( SELECT p.id
   FROM feed_pools p
  WHERE (p.organization_id = ( SELECT tocsin_org() AS tocsin_org)))));
create policy updated on items for update to tocsin_app using ((pool_id IN ( SELECT p.id
   FROM feed_pools p
  WHERE (p.organization_id = ( SELECT tocsin_org() AS tocsin_org)))));
create policy visible on items for select to tocsin_app using ((pool_id IN ( SELECT feed_pools.id
   FROM feed_pools)));
CREATE TRIGGER keep_states AFTER UPDATE ON items REFERENCING OLD TABLE AS old_items NEW TABLE AS new_items FOR EACH STATEMENT EXECUTE FUNCTION tocsin_keep_states();
grant select, insert, update, delete on items to tocsin_app, tocsin_system;

-- All versions of the items.
create table item_versions (
  organization_id uuid not null,
  item_id uuid not null,
  pool_id uuid not null,
  version integer not null,
  cause text not null, -- added, source, reanalysis, reading, group, person, vanished or moved.
  changed text[] not null default '{}'::text[], -- Changed parts of the item.
  stored_text text not null, -- Text that was extracted from.
  doc text, -- JSON document of a previous version. Null for the current version, whose document is items.doc. Empty if the content was withdrawn.
  at timestamp with time zone not null,
  note text, -- Note of the person who made the change.
  objects text, -- JSON array of the original STIX objects. Null if the source does not provide STIX.
  constraint item_versions_pkey PRIMARY KEY (item_id, version)
);
alter table item_versions enable row level security;
alter table item_versions force row level security;
create policy deleted on item_versions for delete to tocsin_app using ((pool_id IN ( SELECT p.id
   FROM feed_pools p
  WHERE (p.organization_id = ( SELECT tocsin_org() AS tocsin_org)))));
create policy every on item_versions to tocsin_system using (true) with check (true);
create policy inserted on item_versions for insert to tocsin_app with check ((pool_id IN ( SELECT p.id
   FROM feed_pools p
  WHERE (p.organization_id = ( SELECT tocsin_org() AS tocsin_org)))));
create policy updated on item_versions for update to tocsin_app using ((pool_id IN ( SELECT p.id
   FROM feed_pools p
  WHERE (p.organization_id = ( SELECT tocsin_org() AS tocsin_org)))));
create policy visible on item_versions for select to tocsin_app using ((pool_id IN ( SELECT feed_pools.id
   FROM feed_pools)));
grant select, insert, update, delete on item_versions to tocsin_app, tocsin_system;

-- Number of items by filter columns, so that totals and breakdowns need not count items.
create table feed_counts (
  pool_id uuid not null,
  severity text not null,
  status text not null,
  publisher text not null,
  source_name text not null,
  platforms text not null, -- Sorted platforms, separated by commas.
  n integer not null,
  roots integer not null default 0, -- How many of the n items are not duplicates.
  constraint feed_counts_pkey PRIMARY KEY (pool_id, severity, status, publisher, source_name, platforms),
  constraint feed_counts_pool_id_fkey FOREIGN KEY (pool_id) REFERENCES feed_pools(id)
);
alter table feed_counts enable row level security;
alter table feed_counts force row level security;
create policy deleted on feed_counts for delete to tocsin_app using ((pool_id IN ( SELECT p.id
   FROM feed_pools p
  WHERE (p.organization_id = ( SELECT tocsin_org() AS tocsin_org)))));
create policy every on feed_counts to tocsin_system using (true) with check (true);
create policy inserted on feed_counts for insert to tocsin_app with check ((pool_id IN ( SELECT p.id
   FROM feed_pools p
  WHERE (p.organization_id = ( SELECT tocsin_org() AS tocsin_org)))));
create policy updated on feed_counts for update to tocsin_app using ((pool_id IN ( SELECT p.id
   FROM feed_pools p
  WHERE (p.organization_id = ( SELECT tocsin_org() AS tocsin_org)))));
create policy visible on feed_counts for select to tocsin_app using ((pool_id IN ( SELECT feed_pools.id
   FROM feed_pools)));
grant select, insert, update, delete on feed_counts to tocsin_app, tocsin_system;

-- Items that a model reads or has read, with its claims. Also the queue of the readers.
create table item_readings (
  organization_id uuid not null,
  item_id uuid not null,
  pool_id uuid not null,
  alias text not null, -- Model alias that reads the item.
  text_hash text not null, -- SHA-256 of the stored text. The claims count as long as the text stays the same.
  state text not null, -- waiting, done, failed (error says why) or withheld: its marking keeps it from this model.
  attempts integer not null default 0, -- Attempts that ended without a result: crashed workers and unexpected errors.
  next_at timestamp with time zone not null,
  lease_until timestamp with time zone, -- Until when the worker that reads it may, by the clock of the database.
  worker uuid,
  error text,
  model text, -- Model and revision of the prompt that the claims are from.
  claims text, -- JSON of the claims that check out. Null: not read yet.
  dropped text, -- JSON of how many claims were dropped, by reason.
  unread_parts integer not null default 0,
  tokens bigint not null default 0,
  cost_usd numeric(16,8) not null default 0,
  read_at timestamp with time zone,
  applied_version integer, -- Version of the item that has the claims.
  constraint item_readings_pkey PRIMARY KEY (item_id),
  constraint item_readings_state_check CHECK (state = ANY (ARRAY['waiting'::text, 'done'::text, 'failed'::text, 'withheld'::text]))
);
CREATE INDEX item_readings_organization_id_next_at_idx ON item_readings USING btree (organization_id, next_at) WHERE state = 'waiting'::text;
CREATE INDEX item_readings_organization_id_text_hash_idx ON item_readings USING btree (organization_id, text_hash) WHERE state = 'done'::text;
alter table item_readings enable row level security;
alter table item_readings force row level security;
create policy deleted on item_readings for delete to tocsin_app using ((pool_id IN ( SELECT p.id
   FROM feed_pools p
  WHERE (p.organization_id = ( SELECT tocsin_org() AS tocsin_org)))));
create policy every on item_readings to tocsin_system using (true) with check (true);
create policy inserted on item_readings for insert to tocsin_app with check ((pool_id IN ( SELECT p.id
   FROM feed_pools p
  WHERE (p.organization_id = ( SELECT tocsin_org() AS tocsin_org)))));
create policy updated on item_readings for update to tocsin_app using ((pool_id IN ( SELECT p.id
   FROM feed_pools p
  WHERE (p.organization_id = ( SELECT tocsin_org() AS tocsin_org)))));
create policy visible on item_readings for select to tocsin_app using ((pool_id IN ( SELECT feed_pools.id
   FROM feed_pools)));
grant select, insert, update, delete on item_readings to tocsin_app, tocsin_system;

-- Up to which change of each pool items were queued for reading.
create table reading_cursors (
  pool_id uuid not null,
  seq bigint not null,
  item_id uuid not null,
  constraint reading_cursors_pkey PRIMARY KEY (pool_id)
);
alter table reading_cursors enable row level security;
alter table reading_cursors force row level security;
create policy deleted on reading_cursors for delete to tocsin_app using ((pool_id IN ( SELECT p.id
   FROM feed_pools p
  WHERE (p.organization_id = ( SELECT tocsin_org() AS tocsin_org)))));
create policy every on reading_cursors to tocsin_system using (true) with check (true);
create policy inserted on reading_cursors for insert to tocsin_app with check ((pool_id IN ( SELECT p.id
   FROM feed_pools p
  WHERE (p.organization_id = ( SELECT tocsin_org() AS tocsin_org)))));
create policy updated on reading_cursors for update to tocsin_app using ((pool_id IN ( SELECT p.id
   FROM feed_pools p
  WHERE (p.organization_id = ( SELECT tocsin_org() AS tocsin_org)))));
create policy visible on reading_cursors for select to tocsin_app using ((pool_id IN ( SELECT feed_pools.id
   FROM feed_pools)));
grant select, insert, update, delete on reading_cursors to tocsin_app, tocsin_system;

-- Model alias that reads the private items of an organization. Null or no row: none.
create table feed_readers (
  organization_id uuid not null,
  alias text,
  updated_at timestamp with time zone not null,
  constraint feed_readers_pkey PRIMARY KEY (organization_id),
  constraint feed_readers_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id)
);
alter table feed_readers enable row level security;
alter table feed_readers force row level security;
create policy every on feed_readers to tocsin_system using (true) with check (true);
create policy own on feed_readers to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on feed_readers to tocsin_app, tocsin_system;

-- Values that items are found and compared by, one row per item, kind and value. The writer keeps the rows distinct: a unique index would be the most expensive part of a pull.
create table item_terms (
  organization_id uuid not null,
  item_id uuid not null,
  pool_id uuid not null,
  kind text not null, -- Kind of the value. rule: a language of rules that its text prints. alias: another id of the same OSV record. text: a band of the MinHash sketch, shared by similar texts.
  value text not null, -- Normalized value. The SHA-256 of values longer than 500 characters.
  identifying boolean not null default false, -- True for indicators that can distinguish one story from another, such as a hash.
  standing text, -- Status of an indicator according to the item. Null: active until ends_at. harmless_here is a false positive in this item only. revoked for an entity of a retracted item. Stored here so that a lookup can weigh all items without reading their documents.
  ends_at timestamp with time zone, -- When the indicator expires. Null if it does not expire.
  entity text, -- Printed form of the canonical name of an actor, malware or tool, and of a CVE. Null for aliases and other kinds.
  seen_at timestamp with time zone, -- When the item was published, or else added. Set with entity.
  address inet, -- Address or network of an indicator. The writer sets it, because not every text of its form is an address. Null for all other values.
  constraint item_terms_standing_check CHECK (standing = ANY (ARRAY['false_positive'::text, 'harmless_here'::text, 'revoked'::text]))
);
CREATE INDEX item_terms_addresses ON item_terms USING btree (pool_id, address) WHERE address IS NOT NULL;
CREATE INDEX item_terms_entities ON item_terms USING btree (kind, value COLLATE "C", pool_id, seen_at, item_id) INCLUDE (entity) WHERE entity IS NOT NULL AND standing IS NULL;
CREATE INDEX item_terms_false_positives ON item_terms USING btree (value, pool_id) WHERE kind = 'indicator'::text AND standing = 'false_positive'::text;
CREATE INDEX item_terms_item_id_kind_idx ON item_terms USING btree (item_id, kind);
CREATE INDEX item_terms_kind_value_pool_id_item_id_idx ON item_terms USING btree (kind, value, pool_id, item_id);
CREATE INDEX item_terms_urls ON item_terms USING btree (value COLLATE "C", pool_id, item_id) WHERE kind = 'indicator'::text AND value ~~ '%://%'::text;
alter table item_terms enable row level security;
alter table item_terms force row level security;
create policy deleted on item_terms for delete to tocsin_app using ((pool_id IN ( SELECT p.id
   FROM feed_pools p
  WHERE (p.organization_id = ( SELECT tocsin_org() AS tocsin_org)))));
create policy every on item_terms to tocsin_system using (true) with check (true);
create policy inserted on item_terms for insert to tocsin_app with check ((pool_id IN ( SELECT p.id
   FROM feed_pools p
  WHERE (p.organization_id = ( SELECT tocsin_org() AS tocsin_org)))));
create policy updated on item_terms for update to tocsin_app using ((pool_id IN ( SELECT p.id
   FROM feed_pools p
  WHERE (p.organization_id = ( SELECT tocsin_org() AS tocsin_org)))));
create policy visible on item_terms for select to tocsin_app using ((pool_id IN ( SELECT feed_pools.id
   FROM feed_pools)));
grant select, insert, update, delete on item_terms to tocsin_app, tocsin_system;

-- Words of the items, for full-text search.
create table item_search (
  organization_id uuid not null,
  item_id uuid not null,
  pool_id uuid not null,
  added_to_feed_at timestamp with time zone not null, -- Like items.added_to_feed_at. A search reads only the newest matches that it needs.
  words tsvector not null,
  constraint item_search_pkey PRIMARY KEY (item_id)
);
CREATE INDEX item_search_added ON item_search USING btree (added_to_feed_at);
CREATE INDEX item_search_words ON item_search USING gin (words);
alter table item_search enable row level security;
alter table item_search force row level security;
create policy deleted on item_search for delete to tocsin_app using ((pool_id IN ( SELECT p.id
   FROM feed_pools p
  WHERE (p.organization_id = ( SELECT tocsin_org() AS tocsin_org)))));
create policy every on item_search to tocsin_system using (true) with check (true);
create policy inserted on item_search for insert to tocsin_app with check ((pool_id IN ( SELECT p.id
   FROM feed_pools p
  WHERE (p.organization_id = ( SELECT tocsin_org() AS tocsin_org)))));
create policy updated on item_search for update to tocsin_app using ((pool_id IN ( SELECT p.id
   FROM feed_pools p
  WHERE (p.organization_id = ( SELECT tocsin_org() AS tocsin_org)))));
create policy visible on item_search for select to tocsin_app using ((pool_id IN ( SELECT feed_pools.id
   FROM feed_pools)));
CREATE TRIGGER keep_sample_of_changed AFTER UPDATE ON item_search REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION tocsin_keep_sample();
CREATE TRIGGER keep_sample_of_new AFTER INSERT ON item_search REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION tocsin_keep_sample();
grant select, insert, update, delete on item_search to tocsin_app, tocsin_system;

-- Copy of one in 16 rows of item_search, by a hash of the id, in which the matches of a frequent word are counted.
create table item_search_sample (
  organization_id uuid not null,
  item_id uuid not null,
  pool_id uuid not null,
  words tsvector not null, -- Stored out of line: a search finds the rows by an index and hardly ever compares them.
  constraint item_search_sample_pkey PRIMARY KEY (item_id)
) with (toast_tuple_target=128);
CREATE INDEX item_search_sample_1024 ON item_search_sample USING gin (words) WHERE (uuid_hash(item_id) & 1023) = 0;
CREATE INDEX item_search_sample_16 ON item_search_sample USING gin (words);
CREATE INDEX item_search_sample_256 ON item_search_sample USING gin (words) WHERE (uuid_hash(item_id) & 255) = 0;
CREATE INDEX item_search_sample_64 ON item_search_sample USING gin (words) WHERE (uuid_hash(item_id) & 63) = 0;
alter table item_search_sample enable row level security;
alter table item_search_sample force row level security;
create policy deleted on item_search_sample for delete to tocsin_app using ((pool_id IN ( SELECT p.id
   FROM feed_pools p
  WHERE (p.organization_id = ( SELECT tocsin_org() AS tocsin_org)))));
create policy every on item_search_sample to tocsin_system using (true) with check (true);
create policy inserted on item_search_sample for insert to tocsin_app with check ((pool_id IN ( SELECT p.id
   FROM feed_pools p
  WHERE (p.organization_id = ( SELECT tocsin_org() AS tocsin_org)))));
create policy updated on item_search_sample for update to tocsin_app using ((pool_id IN ( SELECT p.id
   FROM feed_pools p
  WHERE (p.organization_id = ( SELECT tocsin_org() AS tocsin_org)))));
create policy visible on item_search_sample for select to tocsin_app using ((pool_id IN ( SELECT feed_pools.id
   FROM feed_pools)));
grant select, insert, update, delete on item_search_sample to tocsin_app, tocsin_system;

-- Previous states of items that changed in the last few hours, so that pages under asOf stay consistent.
create table item_states (
  organization_id uuid not null,
  item_id uuid not null,
  pool_id uuid not null,
  seq_from bigint not null, -- Sequence number of the pool from which the state was current.
  seq_until bigint not null, -- Sequence number of the pool that ended the state (exclusive).
  severity text not null,
  status text not null,
  publisher text not null,
  source_name text not null,
  platforms text[] not null,
  duplicate_of uuid,
  title text not null,
  publish_time timestamp with time zone,
  doc text not null,
  next_expiry_at timestamp with time zone,
  added_to_feed_at timestamp with time zone not null,
  last_updated timestamp with time zone not null,
  terms text[] not null, -- Terms of the item, each as kind and value separated by a space.
  words tsvector, -- Words of the item for full-text search. Null if the content was withdrawn.
  kept_at timestamp with time zone not null default clock_timestamp(), -- When the state was stored. Deleted after a few hours.
  constraint item_states_pkey PRIMARY KEY (item_id, seq_from)
);
CREATE INDEX item_states_kept_at_idx ON item_states USING btree (kept_at);
CREATE INDEX item_states_pool_id_seq_until_idx ON item_states USING btree (pool_id, seq_until);
alter table item_states enable row level security;
alter table item_states force row level security;
create policy deleted on item_states for delete to tocsin_app using ((pool_id IN ( SELECT p.id
   FROM feed_pools p
  WHERE (p.organization_id = ( SELECT tocsin_org() AS tocsin_org)))));
create policy every on item_states to tocsin_system using (true) with check (true);
create policy inserted on item_states for insert to tocsin_app with check ((pool_id IN ( SELECT p.id
   FROM feed_pools p
  WHERE (p.organization_id = ( SELECT tocsin_org() AS tocsin_org)))));
create policy updated on item_states for update to tocsin_app using ((pool_id IN ( SELECT p.id
   FROM feed_pools p
  WHERE (p.organization_id = ( SELECT tocsin_org() AS tocsin_org)))));
create policy visible on item_states for select to tocsin_app using ((pool_id IN ( SELECT feed_pools.id
   FROM feed_pools)));
grant select, insert, update, delete on item_states to tocsin_app, tocsin_system;

-- Key that encrypts asOf tokens. All processes of an installation share it.
create table feed_key (
  one boolean not null default true, -- Always true: the table has exactly one row.
  key bytea not null,
  constraint feed_key_pkey PRIMARY KEY (one),
  constraint feed_key_one_check CHECK (one)
);
alter table feed_key enable row level security;
alter table feed_key force row level security;
create policy read on feed_key for select to tocsin_app, tocsin_system using (true);
grant select on feed_key to tocsin_app, tocsin_system;

-- Pairs of items that the rules consider the same story, as seen by the audience of the pool.
create table item_links (
  pool_id uuid not null,
  a uuid not null, -- The smaller of the two ids.
  b uuid not null,
  weight real not null,
  constraint item_links_pkey PRIMARY KEY (a, b, pool_id)
);
CREATE INDEX item_links_b_idx ON item_links USING btree (b);
alter table item_links enable row level security;
alter table item_links force row level security;
create policy deleted on item_links for delete to tocsin_app using ((pool_id IN ( SELECT p.id
   FROM feed_pools p
  WHERE (p.organization_id = ( SELECT tocsin_org() AS tocsin_org)))));
create policy every on item_links to tocsin_system using (true) with check (true);
create policy inserted on item_links for insert to tocsin_app with check ((pool_id IN ( SELECT p.id
   FROM feed_pools p
  WHERE (p.organization_id = ( SELECT tocsin_org() AS tocsin_org)))));
create policy updated on item_links for update to tocsin_app using ((pool_id IN ( SELECT p.id
   FROM feed_pools p
  WHERE (p.organization_id = ( SELECT tocsin_org() AS tocsin_org)))));
create policy visible on item_links for select to tocsin_app using ((pool_id IN ( SELECT feed_pools.id
   FROM feed_pools)));
grant select, insert, update, delete on item_links to tocsin_app, tocsin_system;

-- Pairs of items that a person merged or split. They take precedence over the rules.
create table item_decisions (
  pool_id uuid not null,
  a uuid not null, -- The smaller of the two ids.
  b uuid not null,
  verdict text not null,
  decided_at timestamp with time zone not null,
  decided_by text, -- API key that made the decision.
  constraint item_decisions_pkey PRIMARY KEY (pool_id, a, b),
  constraint item_decisions_verdict_check CHECK (verdict = ANY (ARRAY['together'::text, 'apart'::text])),
  constraint item_decisions_a_fkey FOREIGN KEY (a) REFERENCES items(id),
  constraint item_decisions_b_fkey FOREIGN KEY (b) REFERENCES items(id),
  constraint item_decisions_pool_id_fkey FOREIGN KEY (pool_id) REFERENCES feed_pools(id)
);
CREATE INDEX item_decisions_pool_id_b_idx ON item_decisions USING btree (pool_id, b);
alter table item_decisions enable row level security;
alter table item_decisions force row level security;
create policy deleted on item_decisions for delete to tocsin_app using ((pool_id IN ( SELECT p.id
   FROM feed_pools p
  WHERE (p.organization_id = ( SELECT tocsin_org() AS tocsin_org)))));
create policy every on item_decisions to tocsin_system using (true) with check (true);
create policy inserted on item_decisions for insert to tocsin_app with check ((pool_id IN ( SELECT p.id
   FROM feed_pools p
  WHERE (p.organization_id = ( SELECT tocsin_org() AS tocsin_org)))));
create policy updated on item_decisions for update to tocsin_app using ((pool_id IN ( SELECT p.id
   FROM feed_pools p
  WHERE (p.organization_id = ( SELECT tocsin_org() AS tocsin_org)))));
create policy visible on item_decisions for select to tocsin_app using ((pool_id IN ( SELECT feed_pools.id
   FROM feed_pools)));
grant select, insert, update, delete on item_decisions to tocsin_app, tocsin_system;

-- Queue of items to compare with the items of other pools after their own transaction has committed.
create table item_arrivals (
  pool_id uuid not null,
  item_id uuid not null,
  constraint item_arrivals_pkey PRIMARY KEY (pool_id, item_id)
);
alter table item_arrivals enable row level security;
alter table item_arrivals force row level security;
create policy deleted on item_arrivals for delete to tocsin_app using ((pool_id IN ( SELECT p.id
   FROM feed_pools p
  WHERE (p.organization_id = ( SELECT tocsin_org() AS tocsin_org)))));
create policy every on item_arrivals to tocsin_system using (true) with check (true);
create policy inserted on item_arrivals for insert to tocsin_app with check ((pool_id IN ( SELECT p.id
   FROM feed_pools p
  WHERE (p.organization_id = ( SELECT tocsin_org() AS tocsin_org)))));
create policy updated on item_arrivals for update to tocsin_app using ((pool_id IN ( SELECT p.id
   FROM feed_pools p
  WHERE (p.organization_id = ( SELECT tocsin_org() AS tocsin_org)))));
create policy visible on item_arrivals for select to tocsin_app using ((pool_id IN ( SELECT feed_pools.id
   FROM feed_pools)));
grant select, insert, update, delete on item_arrivals to tocsin_app, tocsin_system;

-- How probable the exploitation of a CVE is within 30 days (EPSS), as the sources of a pool state it.
create table cve_predictions (
  pool_id uuid not null,
  cve text collate "C" not null,
  probability double precision not null,
  percentile double precision not null, -- Share of CVEs with the same or a lower probability.
  scored_at timestamp with time zone not null,
  constraint cve_predictions_pkey PRIMARY KEY (pool_id, cve),
  constraint cve_predictions_percentile_check CHECK (percentile >= 0::double precision AND percentile <= 1::double precision),
  constraint cve_predictions_probability_check CHECK (probability >= 0::double precision AND probability <= 1::double precision)
);
alter table cve_predictions enable row level security;
alter table cve_predictions force row level security;
create policy deleted on cve_predictions for delete to tocsin_app using ((pool_id IN ( SELECT p.id
   FROM feed_pools p
  WHERE (p.organization_id = ( SELECT tocsin_org() AS tocsin_org)))));
create policy every on cve_predictions to tocsin_system using (true) with check (true);
create policy inserted on cve_predictions for insert to tocsin_app with check ((pool_id IN ( SELECT p.id
   FROM feed_pools p
  WHERE (p.organization_id = ( SELECT tocsin_org() AS tocsin_org)))));
create policy updated on cve_predictions for update to tocsin_app using ((pool_id IN ( SELECT p.id
   FROM feed_pools p
  WHERE (p.organization_id = ( SELECT tocsin_org() AS tocsin_org)))));
create policy visible on cve_predictions for select to tocsin_app using ((pool_id IN ( SELECT feed_pools.id
   FROM feed_pools)));
grant select, insert, update, delete on cve_predictions to tocsin_app, tocsin_system;

-- Relevance profile of an organization.
create table feed_profiles (
  organization_id uuid not null,
  profile text not null, -- JSON of the profile.
  has_profile boolean not null, -- False if the profile is empty, which counts as no profile.
  version integer not null, -- Incremented with every change of the profile.
  built_version integer not null default 0, -- Latest version for which all items have been scored.
  digest_week text, -- Last week whose digest was sent to destinations, such as 2026-W48.
  updated_at timestamp with time zone not null,
  constraint feed_profiles_pkey PRIMARY KEY (organization_id),
  constraint feed_profiles_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id)
);
alter table feed_profiles enable row level security;
alter table feed_profiles force row level security;
create policy every on feed_profiles to tocsin_system using (true) with check (true);
create policy own on feed_profiles to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on feed_profiles to tocsin_app, tocsin_system;

-- Versions of the profile for which all items have been scored.
create table feed_relevance_builds (
  organization_id uuid not null,
  version integer not null,
  has_profile boolean not null,
  seq_from bigint not null, -- Sequence number from which the version applies.
  built_at timestamp with time zone not null,
  constraint feed_relevance_builds_pkey PRIMARY KEY (organization_id, version),
  constraint feed_relevance_builds_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id)
);
alter table feed_relevance_builds enable row level security;
alter table feed_relevance_builds force row level security;
create policy every on feed_relevance_builds to tocsin_system using (true) with check (true);
create policy own on feed_relevance_builds to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on feed_relevance_builds to tocsin_app, tocsin_system;

-- Relevance scores of the items that reach the threshold of the profile or meet one of its requirements.
create table feed_relevance (
  organization_id uuid not null,
  version integer not null, -- Version of the profile.
  item_id uuid not null,
  pool_id uuid not null, -- Pool of the item.
  added_to_feed_at timestamp with time zone not null,
  score numeric(3,2) not null,
  reasons text not null, -- JSON array of the reasons.
  requirements text[] not null default '{}'::text[], -- Names of the requirements of the profile that the item meets, in lower case.
  judged_at timestamp with time zone not null,
  seq_from bigint not null, -- Sequence number from which the score is current.
  seq_until bigint not null default '9223372036854775807'::bigint, -- Sequence number that ended the score (exclusive).
  ended_at timestamp with time zone, -- When the score ended. Afterwards it is visible only under an earlier asOf.
  constraint feed_relevance_pkey PRIMARY KEY (organization_id, version, item_id, seq_from)
);
CREATE INDEX feed_relevance_ended_at_idx ON feed_relevance USING btree (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX feed_relevance_item_id_idx ON feed_relevance USING btree (item_id);
CREATE INDEX feed_relevance_listed ON feed_relevance USING btree (organization_id, version, added_to_feed_at, item_id) INCLUDE (pool_id, seq_from, seq_until);
alter table feed_relevance enable row level security;
alter table feed_relevance force row level security;
create policy every on feed_relevance to tocsin_system using (true) with check (true);
create policy own on feed_relevance to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on feed_relevance to tocsin_app, tocsin_system;

-- Progress of scoring the items of a pool for a version of the profile.
create table feed_relevance_cursors (
  organization_id uuid not null,
  version integer not null,
  pool_id uuid not null,
  seq bigint not null, -- Sequence number of that pool.
  item_id uuid not null,
  constraint feed_relevance_cursors_pkey PRIMARY KEY (organization_id, version, pool_id),
  constraint feed_relevance_cursors_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  constraint feed_relevance_cursors_pool_id_fkey FOREIGN KEY (pool_id) REFERENCES feed_pools(id)
);
alter table feed_relevance_cursors enable row level security;
alter table feed_relevance_cursors force row level security;
create policy every on feed_relevance_cursors to tocsin_system using (true) with check (true);
create policy own on feed_relevance_cursors to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on feed_relevance_cursors to tocsin_app, tocsin_system;

-- Items that the threat-relevancy agent has judged. It judges an item again only if the item or the profile has a new version.
create table feed_judgements (
  organization_id uuid not null,
  item_id uuid not null,
  item_version integer not null,
  profile_version integer not null,
  judged_at timestamp with time zone not null,
  constraint feed_judgements_pkey PRIMARY KEY (organization_id, item_id),
  constraint feed_judgements_item_id_fkey FOREIGN KEY (item_id) REFERENCES items(id),
  constraint feed_judgements_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id)
);
CREATE INDEX feed_judgements_item_id_idx ON feed_judgements USING btree (item_id);
alter table feed_judgements enable row level security;
alter table feed_judgements force row level security;
create policy every on feed_judgements to tocsin_system using (true) with check (true);
create policy own on feed_judgements to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on feed_judgements to tocsin_app, tocsin_system;

-- An organization's own values for items that others see too. A change increments the sequence number of the organization's private pool only.
create table feed_overrides (
  organization_id uuid not null,
  item_id uuid not null,
  severity text,
  status text,
  indicators text, -- JSON array of {type, value, status}.
  tags text[],
  note text,
  relevance text,
  relevance_by text, -- Author of the judgment: a person or the threat-relevancy agent. The agent does not replace the judgment of a person.
  relevance_reasons text, -- JSON array of the reasons.
  relevance_at timestamp with time zone,
  exposed_at timestamp with time zone, -- When an indicator of the item was first found in the organization's logs.
  stands_apart boolean not null default false, -- Requested: the item is not part of its group.
  merged_into uuid, -- Requested: the item is a duplicate of this item.
  moved boolean not null default false, -- Result of these requests and of the shared groups: the organization sees the item under the root duplicate_of instead of the shared root.
  duplicate_of uuid, -- Root that the organization sees. Null if the item is a root. Only meaningful if moved.
  updated_at timestamp with time zone not null,
  updated_by text, -- API key that made the last change. Null for changes made by the service.
  actor text, -- Person or key that signed in, if the last change was made with a session.
  seq bigint not null default 0, -- Sequence number from which the row is current.
  constraint feed_overrides_pkey PRIMARY KEY (organization_id, item_id),
  constraint feed_overrides_relevance_by_check CHECK (relevance_by = ANY (ARRAY['person'::text, 'threat-relevancy'::text])),
  constraint feed_overrides_relevance_check CHECK (relevance = ANY (ARRAY['relevant'::text, 'irrelevant'::text])),
  constraint feed_overrides_severity_check CHECK (severity = ANY (ARRAY['none'::text, 'low'::text, 'medium'::text, 'high'::text, 'critical'::text])),
  constraint feed_overrides_status_check CHECK (status = ANY (ARRAY['active'::text, 'corrected'::text, 'retracted'::text])),
  constraint feed_overrides_duplicate_of_fkey FOREIGN KEY (duplicate_of) REFERENCES items(id),
  constraint feed_overrides_item_id_fkey FOREIGN KEY (item_id) REFERENCES items(id),
  constraint feed_overrides_merged_into_fkey FOREIGN KEY (merged_into) REFERENCES items(id),
  constraint feed_overrides_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id)
);
CREATE INDEX feed_overrides_item_id_idx ON feed_overrides USING btree (item_id);
CREATE INDEX feed_overrides_organization_id_seq_idx ON feed_overrides USING btree (organization_id, seq);
alter table feed_overrides enable row level security;
alter table feed_overrides force row level security;
create policy every on feed_overrides to tocsin_system using (true) with check (true);
create policy own on feed_overrides to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
CREATE TRIGGER keep_override AFTER UPDATE ON feed_overrides FOR EACH ROW WHEN (new.seq > old.seq) EXECUTE FUNCTION tocsin_keep_override();
CREATE TRIGGER mark_override AFTER INSERT OR DELETE OR UPDATE ON feed_overrides FOR EACH ROW EXECUTE FUNCTION tocsin_mark_override();
CREATE TRIGGER stamp_override BEFORE INSERT OR UPDATE ON feed_overrides FOR EACH ROW EXECUTE FUNCTION tocsin_stamp_override();
grant select, insert, update, delete on feed_overrides to tocsin_app, tocsin_system;

-- Previous states of overrides that changed in the last few hours, so that pages under asOf stay consistent. See item_states.
create table feed_override_states (
  organization_id uuid not null,
  item_id uuid not null,
  severity text,
  status text,
  indicators text, -- JSON array of {type, value, status}.
  tags text[],
  note text,
  relevance text,
  relevance_by text, -- Author of the judgment: a person or the threat-relevancy agent. The agent does not replace the judgment of a person.
  relevance_reasons text, -- JSON array of the reasons.
  relevance_at timestamp with time zone,
  exposed_at timestamp with time zone, -- When an indicator of the item was first found in the organization's logs.
  stands_apart boolean not null, -- Requested: the item is not part of its group.
  merged_into uuid, -- Requested: the item is a duplicate of this item.
  moved boolean not null, -- Result of these requests and of the shared groups: the organization sees the item under the root duplicate_of instead of the shared root.
  duplicate_of uuid, -- Root that the organization sees. Null if the item is a root. Only meaningful if moved.
  updated_at timestamp with time zone not null,
  updated_by text, -- API key that made the last change. Null for changes made by the service.
  actor text, -- Person or key that signed in, if the last change was made with a session.
  seq bigint not null, -- Sequence number from which the row is current.
  seq_until bigint not null, -- Sequence number that ended the state (exclusive).
  kept_at timestamp with time zone not null default clock_timestamp(), -- When the state was stored. Deleted after a few hours.
  constraint feed_override_states_pkey PRIMARY KEY (organization_id, item_id, seq)
);
CREATE INDEX feed_override_states_kept_at_idx ON feed_override_states USING btree (kept_at);
CREATE INDEX feed_override_states_organization_id_seq_until_idx ON feed_override_states USING btree (organization_id, seq_until);
alter table feed_override_states enable row level security;
alter table feed_override_states force row level security;
create policy every on feed_override_states to tocsin_system using (true) with check (true);
create policy own on feed_override_states to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on feed_override_states to tocsin_app, tocsin_system;

-- History of the overrides that exports show. Every version of an exported object can be rebuilt from it.
create table feed_marks (
  organization_id uuid not null,
  item_id uuid not null,
  at timestamp with time zone not null, -- Time of the change, later than every earlier time in the history of the item, so that modified always increases.
  seq bigint not null, -- Sequence number of the change.
  severity text,
  status text,
  indicators text,
  constraint feed_marks_pkey PRIMARY KEY (organization_id, item_id, at),
  constraint feed_marks_item_id_fkey FOREIGN KEY (item_id) REFERENCES items(id),
  constraint feed_marks_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id)
);
CREATE INDEX feed_marks_organization_id_seq_item_id_idx ON feed_marks USING btree (organization_id, seq, item_id);
alter table feed_marks enable row level security;
alter table feed_marks force row level security;
create policy every on feed_marks to tocsin_system using (true) with check (true);
create policy own on feed_marks to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on feed_marks to tocsin_app, tocsin_system;

-- Progress of the search for indicators of the feed in a SIEM.
create table feed_sweeps (
  organization_id uuid not null,
  connection_id uuid not null, -- Connection. The embedded store has the id of the organization.
  cursor text, -- JSON of the sequence number and item reached in each pool. Null before the first search.
  due_at timestamp with time zone not null default clock_timestamp(), -- Next search, by the clock of the database.
  hour timestamp with time zone not null default '1970-01-01 00:00:00+00'::timestamp with time zone, -- Start of the hour that queries counts, for the hourly limit.
  queries integer not null default 0,
  failures integer not null default 0,
  last_error text,
  last_at timestamp with time zone,
  constraint feed_sweeps_pkey PRIMARY KEY (organization_id, connection_id),
  constraint feed_sweeps_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id)
);
CREATE INDEX feed_sweeps_due_at_idx ON feed_sweeps USING btree (due_at);
alter table feed_sweeps enable row level security;
alter table feed_sweeps force row level security;
create policy every on feed_sweeps to tocsin_system using (true) with check (true);
create policy own on feed_sweeps to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on feed_sweeps to tocsin_app, tocsin_system;

-- Log rows that contain an active indicator of an item: the evidence that the organization is exposed.
create table feed_sightings (
  organization_id uuid not null,
  item_id uuid not null,
  connection_id uuid not null,
  dataset text not null,
  type text not null, -- Type of the indicator. cidr for a network.
  value text not null,
  match text not null, -- Why the row is a sighting: the indicator itself, the host of a URL, a host below a domain, or an address in a network.
  observed text not null, -- Value of the log row, in lower case.
  event_key text not null, -- Key of the log row, for deduplication.
  event text not null, -- JSON of the log row.
  found_at timestamp with time zone not null,
  constraint feed_sightings_pkey PRIMARY KEY (organization_id, item_id, connection_id, dataset, value, event_key),
  constraint feed_sightings_match_check CHECK (match = ANY (ARRAY['exact'::text, 'url_host'::text, 'parent_domain'::text, 'network'::text])),
  constraint feed_sightings_item_id_fkey FOREIGN KEY (item_id) REFERENCES items(id),
  constraint feed_sightings_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id)
);
CREATE INDEX feed_sightings_observed ON feed_sightings USING btree (organization_id, md5(observed), found_at DESC);
CREATE INDEX feed_sightings_organization_id_found_at_idx ON feed_sightings USING btree (organization_id, found_at);
CREATE INDEX feed_sightings_organization_id_item_id_found_at_idx ON feed_sightings USING btree (organization_id, item_id, found_at DESC);
CREATE INDEX feed_sightings_value ON feed_sightings USING btree (organization_id, md5(value), found_at DESC);
alter table feed_sightings enable row level security;
alter table feed_sightings force row level security;
create policy every on feed_sightings to tocsin_system using (true) with check (true);
create policy own on feed_sightings to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on feed_sightings to tocsin_app, tocsin_system;

-- What an organization tells its sources about their indicators, once each.
create table feed_sent_sightings (
  organization_id uuid not null,
  source_id uuid not null,
  item_id uuid not null,
  value text not null,
  status text not null,
  id uuid not null, -- Identity of the sighting in the other system, the same on every attempt.
  at timestamp with time zone not null, -- When the value was first seen, or called a false positive.
  state text not null default 'waiting'::text, -- posted: the other system has not said yet whether it accepts it. withheld: the marking of the item is stricter than the setting.
  tries integer not null default 0, -- Number of attempts. Only the latest may store a result.
  due_at timestamp with time zone not null default clock_timestamp(), -- Next attempt, by the clock of the database. A claim moves it by the lease.
  changed_at timestamp with time zone not null default clock_timestamp(),
  reference text, -- Status resource of the other system.
  error text, -- Why the last attempt failed, or why it was refused.
  constraint feed_sent_sightings_pkey PRIMARY KEY (organization_id, source_id, item_id, value, status),
  constraint feed_sent_sightings_organization_id_id_key UNIQUE (organization_id, id),
  constraint feed_sent_sightings_state_check CHECK (state = ANY (ARRAY['waiting'::text, 'posted'::text, 'sent'::text, 'refused'::text, 'withheld'::text])),
  constraint feed_sent_sightings_status_check CHECK (status = ANY (ARRAY['seen'::text, 'false_positive'::text])),
  constraint feed_sent_sightings_item_id_fkey FOREIGN KEY (item_id) REFERENCES items(id),
  constraint feed_sent_sightings_organization_id_source_id_fkey FOREIGN KEY (organization_id, source_id) REFERENCES feed_sources(organization_id, id)
);
CREATE INDEX feed_sent_sightings_due ON feed_sent_sightings USING btree (organization_id, source_id, due_at) WHERE state = ANY (ARRAY['waiting'::text, 'posted'::text]);
alter table feed_sent_sightings enable row level security;
alter table feed_sent_sightings force row level security;
create policy every on feed_sent_sightings to tocsin_system using (true) with check (true);
create policy own on feed_sent_sightings to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on feed_sent_sightings to tocsin_app, tocsin_system;

-- TAXII collections of an organization.
create table taxii_collections (
  organization_id uuid not null,
  collection text not null,
  last_added timestamp with time zone not null default '1970-01-01 00:00:00+00'::timestamp with time zone, -- Latest date_added.
  constraint taxii_collections_pkey PRIMARY KEY (organization_id, collection),
  constraint taxii_collections_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id)
);
alter table taxii_collections enable row level security;
alter table taxii_collections force row level security;
create policy every on taxii_collections to tocsin_system using (true) with check (true);
create policy own on taxii_collections to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on taxii_collections to tocsin_app, tocsin_system;

-- Position up to which a collection includes the pools, the relevant items and the overrides.
create table taxii_cursors (
  organization_id uuid not null,
  collection text not null,
  source text not null, -- List that the cursor follows: a pool, the relevant items of a profile version, or the overrides.
  seq bigint not null,
  item_id uuid not null,
  constraint taxii_cursors_pkey PRIMARY KEY (organization_id, collection, source),
  constraint taxii_cursors_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id)
);
alter table taxii_cursors enable row level security;
alter table taxii_cursors force row level security;
create policy every on taxii_cursors to tocsin_system using (true) with check (true);
create policy own on taxii_cursors to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on taxii_cursors to tocsin_app, tocsin_system;

-- STIX objects in a collection. Their content is built from the item version, unless several items share the object.
create table taxii_objects (
  organization_id uuid not null,
  collection text not null,
  object_id text not null,
  version text not null, -- The object's modified time. Empty for observables, which have none.
  type text not null,
  spec_version text not null,
  date_added timestamp with time zone not null,
  item_id uuid not null, -- Item that contains the object.
  item_version integer not null,
  gone boolean not null, -- True if the item no longer contains the object.
  created text, -- When the source created an object that came as STIX, which its revocation repeats. Null for objects that we write.
  restored boolean not null default false, -- True if an item contains the object again after it was revoked. The version then replaces its own modified time.
  content text, -- JSON of an object that several items share. Null for an object of one item.
  term text, -- Value in item_terms of the actor, malware or tool that several items share. It is visible as long as a visible item contains it.
  constraint taxii_objects_pkey PRIMARY KEY (organization_id, collection, object_id, version)
);
CREATE INDEX taxii_objects_by_date ON taxii_objects USING btree (organization_id, collection, date_added) WHERE date_added >= '1970-01-01 00:00:00+00'::timestamp with time zone;
CREATE INDEX taxii_objects_by_item ON taxii_objects USING btree (item_id, organization_id, collection);
alter table taxii_objects enable row level security;
alter table taxii_objects force row level security;
create policy every on taxii_objects to tocsin_system using (true) with check (true);
create policy own on taxii_objects to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on taxii_objects to tocsin_app, tocsin_system;

-- Items that contain a STIX object of a collection, besides the item for which it was added.
create table taxii_object_items (
  organization_id uuid not null,
  collection text not null,
  object_id text not null,
  item_id uuid not null,
  constraint taxii_object_items_pkey PRIMARY KEY (organization_id, collection, object_id, item_id)
);
CREATE INDEX taxii_object_items_item_id_organization_id_collection_idx ON taxii_object_items USING btree (item_id, organization_id, collection);
alter table taxii_object_items enable row level security;
alter table taxii_object_items force row level security;
create policy every on taxii_object_items to tocsin_system using (true) with check (true);
create policy own on taxii_object_items to tocsin_app using ((organization_id = ( SELECT tocsin_org() AS tocsin_org))) with check ((organization_id = ( SELECT tocsin_org() AS tocsin_org)));
grant select, insert, update, delete on taxii_object_items to tocsin_app, tocsin_system;

create text search dictionary tocsin_stem (template = snowball, language = 'english');
create text search configuration tocsin_text (parser = default);
alter text search configuration tocsin_text add mapping for asciihword, asciiword, hword, hword_asciipart, hword_part, word with tocsin_stem;
alter text search configuration tocsin_text add mapping for email, file, float, host, hword_numpart, int, numhword, numword, sfloat, uint, url, url_path, version with simple;

-- Returns the organization of the current transaction (setting tocsin.org), or null if none is set.
CREATE OR REPLACE FUNCTION public.tocsin_org()
 RETURNS uuid
 LANGUAGE sql
 STABLE PARALLEL SAFE
AS $function$ select nullif(current_setting('tocsin.org', true), '')::uuid $function$;

-- Puts a table with an organization_id column under row-level security: tocsin_app sees and writes the rows of its organization, tocsin_system all rows.
CREATE OR REPLACE FUNCTION public.tocsin_protect(name regclass)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  execute format('alter table %s enable row level security', name);
  execute format('alter table %s force row level security', name);
  execute format('create policy own on %s to tocsin_app using (organization_id = (select tocsin_org())) with check (organization_id = (select tocsin_org()))', name);
  execute format('create policy every on %s to tocsin_system using (true) with check (true)', name);
  execute format('grant select, insert, update, delete on %s to tocsin_app, tocsin_system', name);
end $function$;

-- Creates the missing monthly partitions of a table, from the month of the given date through the given number of months after it.
CREATE OR REPLACE FUNCTION public.tocsin_partition_months(parent text, first date, months integer)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
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
end $function$;

-- Returns the hash of an audit entry at a place of the chain, after the previous hash.
CREATE OR REPLACE FUNCTION public.tocsin_audit_hash(previous bytea, entry audit, place bigint)
 RETURNS bytea
 LANGUAGE sql
 STABLE
AS $function$
  select sha256(previous || convert_to(string_agg(coalesce(octet_length(field) || ':' || field, '-'), ',' order by n), 'UTF8'))
  from unnest(array[entry.organization_id::text, place::text, entry.id::text, (extract(epoch from entry.at) * 1000000)::bigint::text,
    entry.key_id, entry.actor, entry.action, entry.resource_type, entry.resource_id, entry.before, entry.after]) with ordinality as fields (field, n)
$function$;

CREATE OR REPLACE FUNCTION public.tocsin_chain_audit()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
end $function$;

-- Returns the connection that a detection queries: the one it specifies, otherwise the only connection of its SIEM kind. Null for the embedded store, or if no such connection exists.
CREATE OR REPLACE FUNCTION public.tocsin_connection(org uuid, named uuid, siem text)
 RETURNS uuid
 LANGUAGE sql
 STABLE PARALLEL SAFE
AS $function$
  select case when named is not null then nullif(named, org) when siem is null then null else (
    select case when count(*) = 1 then (array_agg(c.id))[1] end from connections c where c.organization_id = org and c.kind = lower(siem)
  ) end
$function$;

CREATE OR REPLACE FUNCTION public.tocsin_queue_rehearsal()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into rehearsed_detections (organization_id, detection_id, due_at) values (new.organization_id, new.id, new.updated_at)
  on conflict (organization_id, detection_id) do update set due_at = least(rehearsed_detections.due_at, excluded.due_at);
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.tocsin_queue_hits(organization uuid, ids uuid[])
 RETURNS void
 LANGUAGE sql
AS $function$
  insert into incident_queue (organization_id, hit_id) select organization, id from unnest(ids) as id group by id order by id
  on conflict (organization_id, hit_id) do update set hit_id = excluded.hit_id
$function$;

CREATE OR REPLACE FUNCTION public.tocsin_queue_hit()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform tocsin_queue_hits(new.organization_id, array[new.id]);
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.tocsin_queue_named_hits()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  decision entity_decisions := coalesce(new, old);
begin
  perform tocsin_queue_hits(decision.organization_id, array(
    with recursive stems (stem) as (
      select unnest(array[decision.entity_stem, decision.alias_stem])
      union select unnest(array[d.entity_stem, d.alias_stem]) from stems s join entity_decisions d
        on d.organization_id = decision.organization_id and s.stem in (d.entity_stem, d.alias_stem)
    )
    select hit_id from hit_values where organization_id = decision.organization_id and value_key in (select stem from stems)));
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.tocsin_queue_listed_hits()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  list value_lists := coalesce(new, old);
begin
  if list.name in ('own-domains', 'entity-aliases') then
    perform tocsin_queue_hits(list.organization_id,
      array(select hit_id from incident_hits where organization_id = list.organization_id));
  end if;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.tocsin_queue_muted_rehearsal()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  changed exceptions := coalesce(new, old);
begin
  update rehearsed_detections set due_at = '-infinity'
  where organization_id = changed.organization_id and detection_id = changed.detection_id and due_at is not null;
  return null;
end $function$;

-- Increments the version of the manifests whose published files change.
CREATE OR REPLACE FUNCTION public.tocsin_note_published()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into dataset_manifests as m (organization_id, dataset)
  select distinct organization_id, dataset from changed where published order by 1, 2
  on conflict (organization_id, dataset) do update set version = m.version + 1;
  return null;
end $function$;

-- Lets tocsin_app insert, update and delete the rows of a table that meet a condition.
CREATE OR REPLACE FUNCTION public.tocsin_write_policies(name regclass, condition text)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  execute format('create policy inserted on %s for insert to tocsin_app with check (%s)', name, condition);
  execute format('create policy updated on %s for update to tocsin_app using (%s)', name, condition);
  execute format('create policy deleted on %s for delete to tocsin_app using (%s)', name, condition);
end $function$;

-- Puts a table with a pool_id column under row-level security: its rows are visible to the audience of their pool and writable by the owner of the pool.
CREATE OR REPLACE FUNCTION public.tocsin_protect_items(name regclass)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  execute format('alter table %s enable row level security', name);
  execute format('alter table %s force row level security', name);
  execute format('create policy visible on %s for select to tocsin_app using (pool_id in (select id from feed_pools))', name);
  perform tocsin_write_policies(name, 'pool_id in (select id from feed_pools p where p.organization_id = (select tocsin_org()))');
  execute format('create policy every on %s to tocsin_system using (true) with check (true)', name);
  execute format('grant select, insert, update, delete on %s to tocsin_app, tocsin_system', name);
end $function$;

-- Copies the sample among the rows of item_search that a statement wrote to item_search_sample.
CREATE OR REPLACE FUNCTION public.tocsin_keep_sample()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into item_search_sample as known (organization_id, item_id, pool_id, words)
  select organization_id, item_id, pool_id, words from written where uuid_hash(item_id) & 15 = 0
  on conflict (item_id) do update set words = excluded.words where known.words is distinct from excluded.words;
  return null;
end $function$;

-- Returns the words of an item: title, summary with indicators, and text, in descending weight. Long text is truncated, further if the words exceed the size limit of a tsvector.
CREATE OR REPLACE FUNCTION public.tocsin_words(title text, head text, body text)
 RETURNS tsvector
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
declare
  name tsvector := setweight(to_tsvector('tocsin_text', left(title, 2000)), 'A');
begin
  return name || setweight(to_tsvector('tocsin_text', left(head, 100000)), 'B') || to_tsvector('tocsin_text', left(body, 150000));
exception when program_limit_exceeded then
  return name || setweight(to_tsvector('tocsin_text', left(head, 20000)), 'B') || to_tsvector('tocsin_text', left(body, 30000));
end $function$;

-- Returns the score of an item in a search by relevance and freshness: its rank divided by the cube root of its age, 30 days older than it is. The rank of all words counts how near they are, that of each word where it is: a title with one of them counts even if the others are in the text.
CREATE OR REPLACE FUNCTION public.tocsin_search_score(words tsvector, query tsquery, at timestamp with time zone, now timestamp with time zone)
 RETURNS double precision
 LANGUAGE sql
 STABLE PARALLEL SAFE
AS $function$
  select ln(greatest(ts_rank('{0.03, 0.1, 0.4, 1}', words, query, 1) + case when query::text like '% & %'
    then ts_rank('{0.03, 0.1, 0.4, 1}', words, replace(query::text, ' & ', ' | ')::tsquery, 1) else 0 end, 1e-6))
    - ln(1 + greatest(extract(epoch from now - at), 0)::float8 / (30 * 24 * 3600)) / 3
$function$;

-- Returns the full-text query of a search text. Without quotation marks and exclusions (!), and up to eight words, a word of at least four letters and digits also matches longer words that begin with it, unless it is part of a compound (<). A compound such as zero-day also matches its words without a hyphen, and APT28, APT 28 and APT-28 match each other. Quotation marks around pairs of characters of a script without spaces do not count, and a single character of it matches the pairs that begin with it.
CREATE OR REPLACE FUNCTION public.tocsin_text_query(text text)
 RETURNS tsquery
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select case when regexp_replace(text, '"[^\x01-\x1f!-\x7f]+"', '', 'g') ~ '"' or words ~ '!' or numnode(words::tsquery) not between 1 and 15 then stems::tsquery else (
    select string_agg(case
      when part !~ '^''[[:alnum:]]*[[:alpha:]][[:alnum:]]*''$' then part
      when previous ~ '<' or next ~ '<' then case when word ~ '^[[:alpha:]]+$' then quote_literal(stem) else part end
      when length(word) = 1 and word ~ '[^\x01-\x7f]' then part || ':*'
      when length(word) < 4 then case when word ~ '^[[:alpha:]]+$' then quote_literal(stem) else part end
      when stem = word then part || ':*'
      else '(' || quote_literal(stem) || '|' || part || ':*)' end, '' order by place)::tsquery
    from (
        select part_list[1] as part, place, lag(part_list[1]) over (order by place) as previous, lead(part_list[1]) over (order by place) as next
        from regexp_matches(
          regexp_replace(words, '(?<!<-> )''(apt|dev|fin|storm|ta|temp|uac|uat|unc)(?:'' (?:&|<->) ''-?)?(\d+)''(?! <->)',
            '(''\1\2'' | ''\1'' <-> ''\2'' | ''\1'' <-> ''-\2'')', 'g'),
          '''(?:[^'']|'''')*''|[^'']+', 'g') with ordinality parts (part_list, place)) parts
      cross join lateral (select trim(both '''' from part) as word) parsed
      cross join lateral (select coalesce((ts_lexize('tocsin_stem', word))[1], word) as stem) stemmed) end
  from (
    -- The parts of a compound are indexed one after another behind it, so they alone match it in all its spellings.
    select regexp_replace(websearch_to_tsquery('tocsin_text', text)::text, compound, '', 'g') as stems,
      regexp_replace(websearch_to_tsquery('simple', text)::text, compound, '', 'g') as words
    from (select '(?<!<-> )''[[:alpha:]]+(?:-[[:alpha:]]+)+'' <-> ' as compound) patterns) query
$function$;

-- Returns the ids of the items in the given pools that match a full-text query and were added at a time or later.
CREATE OR REPLACE FUNCTION public.tocsin_find_words(pools uuid[], query tsquery, since timestamp with time zone)
 RETURNS uuid[]
 LANGUAGE plpgsql
 STABLE
 SET role TO 'tocsin_system'
 SET plan_cache_mode TO 'force_custom_plan'
AS $function$
begin
  return (select coalesce(array_agg(item_id), '{}') from item_search
    where pool_id = any (pools) and words @@ query and added_to_feed_at >= since);
end $function$;

-- Like tocsin_find_words, but returns only the newest matches, newest first. Reads the items that were added since, until there are enough.
CREATE OR REPLACE FUNCTION public.tocsin_newest_words(pools uuid[], query tsquery, since timestamp with time zone, most integer)
 RETURNS uuid[]
 LANGUAGE plpgsql
 STABLE
 SET role TO 'tocsin_system'
 SET plan_cache_mode TO 'force_custom_plan'
 SET enable_bitmapscan TO 'off'
 SET enable_seqscan TO 'off'
AS $function$
begin
  return array(select item_id from item_search
    where pool_id = any (pools) and words @@ query and added_to_feed_at >= since
    order by added_to_feed_at desc, item_id desc limit most);
end $function$;

-- Like tocsin_find_words, but only in a sample of one in so many items, a power of two. The samples of 1024, 256, 64 and 16 have an index, which serves the smaller ones as well.
CREATE OR REPLACE FUNCTION public.tocsin_sample_words(pools uuid[], query tsquery, one_in integer)
 RETURNS uuid[]
 LANGUAGE plpgsql
 STABLE
 SET role TO 'tocsin_system'
 SET enable_seqscan TO 'off'
AS $function$
begin
  if one_in >= 1024 then
    return (select coalesce(array_agg(item_id), '{}') from item_search_sample
      where pool_id = any (pools) and words @@ query and uuid_hash(item_id) & 1023 = 0 and uuid_hash(item_id) & (one_in - 1) = 0);
  elsif one_in >= 256 then
    return (select coalesce(array_agg(item_id), '{}') from item_search_sample
      where pool_id = any (pools) and words @@ query and uuid_hash(item_id) & 255 = 0 and uuid_hash(item_id) & (one_in - 1) = 0);
  elsif one_in >= 64 then
    return (select coalesce(array_agg(item_id), '{}') from item_search_sample
      where pool_id = any (pools) and words @@ query and uuid_hash(item_id) & 63 = 0 and uuid_hash(item_id) & (one_in - 1) = 0);
  elsif one_in >= 16 then
    return (select coalesce(array_agg(item_id), '{}') from item_search_sample
      where pool_id = any (pools) and words @@ query and uuid_hash(item_id) & (one_in - 1) = 0);
  end if;
  return (select coalesce(array_agg(item_id), '{}') from item_search
    where pool_id = any (pools) and words @@ query and uuid_hash(item_id) & (one_in - 1) = 0);
end $function$;

-- Copies changed items to item_states, and the documents of previous versions to item_versions.
CREATE OR REPLACE FUNCTION public.tocsin_keep_states()
 RETURNS trigger
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
AS $function$
declare
  changed uuid[];
begin
  execute 'select array(select n.id from old_items o join new_items n on n.id = o.id where n.version > o.version)' into changed;
  execute 'update item_versions v set doc = o.doc from old_items o
    where v.item_id = any($1) and o.id = v.item_id and o.version = v.version and v.doc is null' using changed;
  execute $states$
    insert into item_states (organization_id, item_id, pool_id, seq_from, seq_until, severity, status, publisher, source_name, platforms,
      duplicate_of, title, publish_time, doc, next_expiry_at, added_to_feed_at, last_updated, terms, words)
    select o.organization_id, o.id, o.pool_id, o.seq, n.seq, o.severity, o.status, o.publisher, o.source_name, o.platforms,
      o.duplicate_of, o.title, o.publish_time, o.doc, o.next_expiry_at, o.added_to_feed_at, o.last_updated,
      array(select t.kind || ' ' || t.value from item_terms t where t.item_id = o.id),
      (select s.words from item_search s where s.item_id = o.id)
    from old_items o join new_items n on n.id = o.id
    where n.seq > o.seq $states$;
  return null;
end $function$;

-- Sets the sequence number of a changed override and skips updates that change nothing.
CREATE OR REPLACE FUNCTION public.tocsin_stamp_override()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if tg_op = 'UPDATE' and new is not distinct from old then return null; end if;
  new.seq := (select p.seq + 1 from feed_pools p where p.organization_id = new.organization_id and p.kind = 'private');
  return new;
end $function$;

-- Copies the previous state of a changed override to feed_override_states.
CREATE OR REPLACE FUNCTION public.tocsin_keep_override()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into feed_override_states select old.*, new.seq, clock_timestamp();
  return null;
end $function$;

-- Records a change of an override that exports show in feed_marks.
CREATE OR REPLACE FUNCTION public.tocsin_mark_override()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  org uuid := coalesce(new.organization_id, old.organization_id);
  item uuid := coalesce(new.item_id, old.item_id);
begin
  if (new.severity, new.status, new.indicators) is distinct from (old.severity, old.status, old.indicators) then
    insert into feed_marks (organization_id, item_id, at, seq, severity, status, indicators)
    select org, item,
      date_trunc('milliseconds', greatest(new.updated_at, clock_timestamp(), i.last_updated + interval '1 ms', (
        select max(m.at) + interval '1 ms' from feed_marks m where m.organization_id = org and m.item_id = item))),
      coalesce((select p.seq + 1 from feed_pools p where p.kind = 'private' and p.organization_id = org), 0),
      new.severity, new.status, new.indicators
    from items i where i.id = item;
  end if;
  return null;
end $function$;
