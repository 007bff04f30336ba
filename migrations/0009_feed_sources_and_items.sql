-- The threat feed: pools, sources, items and their versions.
--
-- A pool is a set of items with one audience: everyone, the organizations that a source is assigned to, or one organization. Sequence
-- numbers and totals are kept per pool, so that nothing in a private pool is visible in the numbers of another organization.

-- Pools ------------------------------------------------------------------------------------------------------------------------------

create table feed_pools (
  id uuid primary key,
  organization_id uuid references organizations (id),
  kind text not null check (kind in ('public', 'assigned', 'private')),
  assigned_to uuid[],
  seq bigint not null default 0,
  last_added_at timestamptz not null default 'epoch'
);
comment on table feed_pools is 'Sets of items with one audience.';
comment on column feed_pools.organization_id is 'Owner. Null for the public pool.';
comment on column feed_pools.assigned_to is 'Organizations that see an assigned pool.';
comment on column feed_pools.seq is 'Sequence number of the latest change. Assigned to the changed items under the lock of this row.';
comment on column feed_pools.last_added_at is 'Time at which the latest item was added.';
create unique index one_private_pool on feed_pools (organization_id) where kind = 'private';

-- One policy per command. A policy for all commands would also be evaluated by every read, next to the policy for reading, although
-- a row that may be written may always be read. That would double the planning time of a list.
create function tocsin_write_policies(name regclass, condition text) returns void language plpgsql as $$
begin
  execute format('create policy inserted on %s for insert to tocsin_app with check (%s)', name, condition);
  execute format('create policy updated on %s for update to tocsin_app using (%s)', name, condition);
  execute format('create policy deleted on %s for delete to tocsin_app using (%s)', name, condition);
end $$;
comment on function tocsin_write_policies(regclass, text) is 'Lets tocsin_app insert, update and delete the rows of a table that meet a condition.';

-- The policies of feed_pools apply inside these policies.
create function tocsin_protect_items(name regclass) returns void language plpgsql as $$
begin
  execute format('alter table %s enable row level security', name);
  execute format('alter table %s force row level security', name);
  execute format('create policy visible on %s for select to tocsin_app using (pool_id in (select id from feed_pools))', name);
  perform tocsin_write_policies(name, 'pool_id in (select id from feed_pools p where p.organization_id = (select tocsin_org()))');
  execute format('create policy every on %s to tocsin_system using (true) with check (true)', name);
  execute format('grant select, insert, update, delete on %s to tocsin_app, tocsin_system', name);
end $$;
comment on function tocsin_protect_items(regclass) is
  'Puts a table with a pool_id column under row-level security: its rows are visible to the audience of their pool and writable by the owner of the pool.';

alter table feed_pools enable row level security;
create policy visible on feed_pools for select to tocsin_app using (
  kind = 'public' or organization_id = (select tocsin_org()) or (kind = 'assigned' and (select tocsin_org()) = any (assigned_to)));
create policy every on feed_pools to tocsin_system using (true) with check (true);
select tocsin_write_policies('feed_pools', 'organization_id = (select tocsin_org())');
grant select, insert, update, delete on feed_pools to tocsin_app, tocsin_system;
insert into feed_pools (id, kind) values ('00000000-0000-7000-8000-000000000001', 'public');

-- Sources ----------------------------------------------------------------------------------------------------------------------------

create table feed_sources (
  organization_id uuid not null references organizations (id),
  id uuid not null,
  visibility text not null check (visibility in ('private', 'shared')),
  assigned_to uuid[],
  pool_id uuid not null references feed_pools (id),
  kind text not null,
  name text not null,
  url text not null,
  file_allowed boolean not null default false,
  sealed_auth bytea,
  sightings text,
  sightings_error text,
  publisher text,
  tlp text,
  license text,
  reliability numeric(3, 2) not null default 0.5,
  include text not null default '[]',
  exclude text not null default '[]',
  schedule text,
  enabled boolean not null default true,

  -- State of the pulls
  next_pull_at timestamptz,
  lease_until timestamptz,
  worker text,
  failures int not null default 0,
  etag text,
  last_modified text,
  cursor text not null default '{}',
  last_pull_at timestamptz,
  last_success_at timestamptz,
  last_new_at timestamptz,
  last_error text,
  last_result text,

  created_at timestamptz not null,
  updated_at timestamptz not null,
  deleted_at timestamptz,
  primary key (organization_id, id),
  unique (id)
);
comment on table feed_sources is 'Sources that the feed is pulled from.';
comment on column feed_sources.assigned_to is 'Organizations that see a shared source. Null for all organizations.';
comment on column feed_sources.pool_id is 'Pool of its items, unless an item''s TLP marking restricts it to the private pool.';
comment on column feed_sources.file_allowed is 'True if the source may read a file: URL, because it was created on the command line or the URL is below a directory of TOCSIN_FILE_SOURCES.';
comment on column feed_sources.sealed_auth is 'Credentials (a password, token or key), encrypted with TOCSIN_SECRET_KEY.';
comment on column feed_sources.sightings is 'JSON: url and tlpMax, where sightings of its items are sent. Null if none are.';
comment on column feed_sources.sightings_error is 'Why sightings could not be sent the last time. Null if they could.';
comment on column feed_sources.reliability is 'From 0 to 1.';
comment on column feed_sources.include is 'JSON array of words. Records that contain none of them are skipped.';
comment on column feed_sources.exclude is 'JSON array of words. Records that contain one of them are skipped.';
comment on column feed_sources.schedule is 'Cron expression of the pulls.';
comment on column feed_sources.failures is 'Consecutive failed pulls.';
comment on column feed_sources.etag is 'ETag header of the last successful pull, for a conditional request.';
comment on column feed_sources.last_modified is 'Last-Modified header of the last successful pull, for a conditional request.';
comment on column feed_sources.cursor is 'JSON of the position after the last successful pull.';
comment on column feed_sources.last_new_at is 'Last pull that added an item.';
comment on column feed_sources.last_result is 'JSON summary of the last pull.';
create index on feed_sources (next_pull_at) where enabled and deleted_at is null;
create index on feed_sources (lease_until) where lease_until is not null;

alter table feed_sources enable row level security;
alter table feed_sources force row level security;
create policy own on feed_sources to tocsin_app using (organization_id = (select tocsin_org())) with check (organization_id = (select tocsin_org()));
create policy shared on feed_sources for select to tocsin_app using (
  visibility = 'shared' and (assigned_to is null or (select tocsin_org()) = any (assigned_to)));
create policy every on feed_sources to tocsin_system using (true) with check (true);
grant select, insert, update, delete on feed_sources to tocsin_app, tocsin_system;

-- Items ------------------------------------------------------------------------------------------------------------------------------

-- The tables that a pull fills (items and what belongs to an item) have no foreign keys: under row-level security their checks, one query per
-- row and key, took most of the time of a pull (docs/adr/0020-feed-without-foreign-keys.md).

create table items (
  organization_id uuid not null,
  id uuid not null,
  pool_id uuid not null,

  -- Origin
  source_id uuid,
  record_id text not null,
  generation int not null default 1,
  record_hash text not null,
  record_modified_at timestamptz,
  missing_pulls int not null default 0,

  -- Content
  version int not null default 1,
  content_hash text not null,
  severity text not null,
  severity_rule text not null,
  status text not null,
  publisher text not null,
  source_name text not null,
  platforms text[] not null default '{}',
  title text not null,
  publish_time timestamptz,
  doc text not null,
  next_expiry_at timestamptz,
  reading int not null default 0,

  -- Deduplication and curation
  canonical_key text not null,
  duplicate_of uuid,
  related uuid[] not null default '{}',
  sketch text,
  identifying int not null default 0,
  own_doc text,
  held_back text,

  seq bigint not null,
  added_to_feed_at timestamptz not null,
  created_at timestamptz not null,
  last_updated timestamptz not null,
  -- With columns for search, which looks up many items by id before the page is known.
  primary key (id) include (pool_id, seq, added_to_feed_at, severity, status, publisher, source_name, platforms, duplicate_of),
  unique (source_id, record_id, generation)
-- Documents of up to four kilobytes, as most structured records have, stay uncompressed: compression would be a fifth of inserting an item.
) with (toast_tuple_target = 4080);
comment on table items is 'Items of the feed, in their current version.';
comment on column items.organization_id is 'Owner: the organization of the source, or the one that posted the item.';
comment on column items.source_id is 'Source. Null for a posted item.';
comment on column items.record_id is 'Id of the record in its source. For a posted item, derived from its text.';
comment on column items.generation is 'Counts the items made from the same record. A record that returns after its item was retracted starts a new generation.';
comment on column items.record_hash is 'Hash of the record as the source sent it. Distinguishes a change of the source from a change of our extraction.';
comment on column items.record_modified_at is 'Time of the last change according to the source.';
comment on column items.missing_pulls is 'Consecutive successful pulls without the record.';
comment on column items.content_hash is 'Hash of the extracted content. An item with an unchanged hash gets no new version.';
comment on column items.severity_rule is 'Rule that decided the severity, followed by references to the passages on which it relies.';
comment on column items.status is 'active, corrected or retracted.';
comment on column items.doc is 'JSON document that the API returns.';
comment on column items.next_expiry_at is 'When the next indicator in doc expires. Until then, doc can be returned unparsed.';
comment on column items.reading is 'Version of the extraction that produced the item. Items of an older version are analyzed again.';
comment on column items.canonical_key is 'Identity across sources, such as cve:CVE-2024-0001 or a normalized URL. Items with the same key are duplicates.';
comment on column items.duplicate_of is 'Root of the item''s group of duplicates. Null for a root.';
comment on column items.related is 'Earlier items that this item follows.';
comment on column items.sketch is 'MinHash sketch of the text, for comparison with other texts. Null if the text is too short.';
comment on column items.identifying is 'Number of identifying indicators. See item_terms.identifying.';
comment on column items.own_doc is 'Document of a root without the aggregated figures of its group. Null if it does not differ from doc.';
comment on column items.held_back is 'Document of an item that a person retracted, as it was before. While set, only a person can change the item.';
comment on column items.seq is 'Sequence number of the pool at the item''s last change.';
create unique index one_item_of_a_posted_text on items (organization_id, record_id, generation) where source_id is null;
create index on items (canonical_key, pool_id);
create index on items (reading);
create index on items (source_id, added_to_feed_at desc);

-- Lists and searches are index-only scans: the filter columns are included in each index.
create index items_listed on items (pool_id, added_to_feed_at desc, id desc)
  include (seq, severity, status, publisher, source_name, platforms, duplicate_of, last_updated);
-- Few items are not active, so a filter by another status skips the active ones.
create index items_not_active on items (pool_id, status, added_to_feed_at desc, id desc)
  include (seq, severity, publisher, source_name, platforms, duplicate_of) where status <> 'active';
create index items_members on items (duplicate_of)
  include (id, pool_id, seq, severity, status, publisher, source_name, platforms) where duplicate_of is not null;
create index items_in_change_order on items (pool_id, seq, id);
-- An item that has not changed since it was added is found by the time at which it was added, so it needs no entry here. Lists with updatedSince
-- read no item, only this index.
create index items_updated on items (pool_id, last_updated, added_to_feed_at, id)
  include (seq, severity, status, publisher, source_name, platforms, duplicate_of) where last_updated > added_to_feed_at;
-- The terms of items that a person retracted keep the statuses from before, so a look-up of a frequent value reads these items.
create index items_held_back on items (id) where held_back is not null;
select tocsin_protect_items('items');

create table item_versions (
  organization_id uuid not null,
  item_id uuid not null,
  pool_id uuid not null,
  version int not null,
  cause text not null,
  changed text[] not null default '{}',
  stored_text text not null,
  doc text,
  at timestamptz not null,
  note text,
  objects text,
  primary key (item_id, version)
);
comment on table item_versions is 'All versions of the items.';
comment on column item_versions.cause is 'added, source, reanalysis, reading, group, person, vanished or moved.';
comment on column item_versions.changed is 'Changed parts of the item.';
comment on column item_versions.stored_text is 'Text that was extracted from.';
comment on column item_versions.doc is 'JSON document of a previous version. Null for the current version, whose document is items.doc. Empty if the content was withdrawn.';
comment on column item_versions.note is 'Note of the person who made the change.';
comment on column item_versions.objects is 'JSON array of the original STIX objects. Null if the source does not provide STIX.';
select tocsin_protect_items('item_versions');

create table feed_counts (
  pool_id uuid not null references feed_pools (id),
  severity text not null,
  status text not null,
  publisher text not null,
  source_name text not null,
  platforms text not null,
  n int not null,
  roots int not null default 0,
  primary key (pool_id, severity, status, publisher, source_name, platforms)
);
comment on table feed_counts is 'Number of items by filter columns, so that totals and breakdowns need not count items.';
comment on column feed_counts.platforms is 'Sorted platforms, separated by commas.';
comment on column feed_counts.roots is 'How many of the n items are not duplicates.';
select tocsin_protect_items('feed_counts');

-- Reading by models ------------------------------------------------------------------------------------------------------------------

create table item_readings (
  organization_id uuid not null,
  item_id uuid primary key,
  pool_id uuid not null,
  alias text not null,
  text_hash text not null,
  state text not null check (state in ('waiting', 'done', 'failed', 'withheld')),
  attempts int not null default 0,
  next_at timestamptz not null,
  lease_until timestamptz,
  worker uuid,
  error text,
  model text,
  claims text,
  dropped text,
  unread_parts int not null default 0,
  tokens bigint not null default 0,
  cost_usd numeric(16, 8) not null default 0,
  read_at timestamptz,
  applied_version int
);
comment on table item_readings is 'Items that a model reads or has read, with its claims. Also the queue of the readers.';
comment on column item_readings.alias is 'Model alias that reads the item.';
comment on column item_readings.text_hash is 'SHA-256 of the stored text. The claims count as long as the text stays the same.';
comment on column item_readings.state is 'waiting, done, failed (error says why) or withheld: its marking keeps it from this model.';
comment on column item_readings.attempts is 'Attempts that ended without a result: crashed workers and unexpected errors.';
comment on column item_readings.lease_until is 'Until when the worker that reads it may, by the clock of the database.';
comment on column item_readings.model is 'Model and revision of the prompt that the claims are from.';
comment on column item_readings.claims is 'JSON of the claims that check out. Null: not read yet.';
comment on column item_readings.dropped is 'JSON of how many claims were dropped, by reason.';
comment on column item_readings.applied_version is 'Version of the item that has the claims.';
create index on item_readings (organization_id, next_at) where state = 'waiting';
create index on item_readings (organization_id, text_hash) where state = 'done';
select tocsin_protect_items('item_readings');

create table reading_cursors (
  pool_id uuid primary key,
  seq bigint not null,
  item_id uuid not null
);
comment on table reading_cursors is 'Up to which change of each pool items were queued for reading.';
select tocsin_protect_items('reading_cursors');

create table feed_readers (
  organization_id uuid primary key references organizations (id),
  alias text,
  updated_at timestamptz not null
);
comment on table feed_readers is 'Model alias that reads the private items of an organization. Null or no row: none.';
select tocsin_protect('feed_readers');
