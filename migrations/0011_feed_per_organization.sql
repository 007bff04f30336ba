-- The feed as one organization sees it: relevance, overrides, sightings in its logs, and TAXII collections.
--
-- Sequence numbers in this file are those of the organization's private pool.

-- Relevance --------------------------------------------------------------------------------------------------------------------------

create table feed_profiles (
  organization_id uuid primary key references organizations (id),
  profile text not null,
  has_profile boolean not null,
  version int not null,
  built_version int not null default 0,
  digest_week text,
  updated_at timestamptz not null
);
comment on table feed_profiles is 'Relevance profile of an organization.';
comment on column feed_profiles.profile is 'JSON of the profile.';
comment on column feed_profiles.has_profile is 'False if the profile is empty, which counts as no profile.';
comment on column feed_profiles.version is 'Incremented with every change of the profile.';
comment on column feed_profiles.built_version is 'Latest version for which all items have been scored.';
comment on column feed_profiles.digest_week is 'Last week whose digest was sent to destinations, such as 2026-W48.';
select tocsin_protect('feed_profiles');

create table feed_relevance_builds (
  organization_id uuid not null references organizations (id),
  version int not null,
  has_profile boolean not null,
  seq_from bigint not null,
  built_at timestamptz not null,
  primary key (organization_id, version)
);
comment on table feed_relevance_builds is 'Versions of the profile for which all items have been scored.';
comment on column feed_relevance_builds.seq_from is 'Sequence number from which the version applies.';
select tocsin_protect('feed_relevance_builds');

create table feed_relevance (
  organization_id uuid not null,
  version int not null,
  item_id uuid not null,
  pool_id uuid not null,
  added_to_feed_at timestamptz not null,
  score numeric(3, 2) not null,
  reasons text not null,
  requirements text[] not null default '{}',
  judged_at timestamptz not null,
  seq_from bigint not null,
  seq_until bigint not null default 9223372036854775807,
  ended_at timestamptz,
  primary key (organization_id, version, item_id, seq_from)
);
comment on table feed_relevance is 'Relevance scores of the items that reach the threshold of the profile or meet one of its requirements.';
comment on column feed_relevance.version is 'Version of the profile.';
comment on column feed_relevance.pool_id is 'Pool of the item.';
comment on column feed_relevance.reasons is 'JSON array of the reasons.';
comment on column feed_relevance.requirements is 'Names of the requirements of the profile that the item meets, in lower case.';
comment on column feed_relevance.seq_from is 'Sequence number from which the score is current.';
comment on column feed_relevance.seq_until is 'Sequence number that ended the score (exclusive).';
comment on column feed_relevance.ended_at is 'When the score ended. Afterwards it is visible only under an earlier asOf.';
-- The list of relevant items is an index-only scan, which reads no item besides those of the page.
-- Ascending, because scoring inserts in the order of the times, and pages that are filled from the left stay half empty.
create index feed_relevance_listed on feed_relevance (organization_id, version, added_to_feed_at, item_id)
  include (pool_id, seq_from, seq_until);
create index on feed_relevance (item_id);
create index on feed_relevance (ended_at) where ended_at is not null;
select tocsin_protect('feed_relevance');

-- A change gives an item the highest seq of its pool, so a cursor that moves by seq misses nothing.
create table feed_relevance_cursors (
  organization_id uuid not null references organizations (id),
  version int not null,
  pool_id uuid not null references feed_pools (id),
  seq bigint not null,
  item_id uuid not null,
  primary key (organization_id, version, pool_id)
);
comment on table feed_relevance_cursors is 'Progress of scoring the items of a pool for a version of the profile.';
comment on column feed_relevance_cursors.seq is 'Sequence number of that pool.';
select tocsin_protect('feed_relevance_cursors');

create table feed_judgements (
  organization_id uuid not null references organizations (id),
  item_id uuid not null references items (id),
  item_version int not null,
  profile_version int not null,
  judged_at timestamptz not null,
  primary key (organization_id, item_id)
);
comment on table feed_judgements is 'Items that the threat-relevancy agent has judged. It judges an item again only if the item or the profile has a new version.';
create index on feed_judgements (item_id);
select tocsin_protect('feed_judgements');

-- Overrides --------------------------------------------------------------------------------------------------------------------------

create table feed_overrides (
  organization_id uuid not null references organizations (id),
  item_id uuid not null references items (id),

  -- Fields of the item
  severity text check (severity in ('none', 'low', 'medium', 'high', 'critical')),
  status text check (status in ('active', 'corrected', 'retracted')),
  indicators text,
  tags text[],
  note text,

  -- Relevance
  relevance text check (relevance in ('relevant', 'irrelevant')),
  relevance_by text check (relevance_by in ('person', 'threat-relevancy')),
  relevance_reasons text,
  relevance_at timestamptz,
  exposed_at timestamptz,

  -- Group of duplicates
  stands_apart boolean not null default false,
  merged_into uuid references items (id),
  moved boolean not null default false,
  duplicate_of uuid references items (id),

  updated_at timestamptz not null,
  updated_by text,
  actor text,
  seq bigint not null default 0,
  primary key (organization_id, item_id)
);
comment on table feed_overrides is 'An organization''s own values for items that others see too. A change increments the sequence number of the organization''s private pool only.';
comment on column feed_overrides.indicators is 'JSON array of {type, value, status}.';
comment on column feed_overrides.relevance_by is 'Author of the judgment: a person or the threat-relevancy agent. The agent does not replace the judgment of a person.';
comment on column feed_overrides.relevance_reasons is 'JSON array of the reasons.';
comment on column feed_overrides.exposed_at is 'When an indicator of the item was first found in the organization''s logs.';
comment on column feed_overrides.stands_apart is 'Requested: the item is not part of its group.';
comment on column feed_overrides.merged_into is 'Requested: the item is a duplicate of this item.';
comment on column feed_overrides.moved is 'Result of these requests and of the shared groups: the organization sees the item under the root duplicate_of instead of the shared root.';
comment on column feed_overrides.duplicate_of is 'Root that the organization sees. Null if the item is a root. Only meaningful if moved.';
comment on column feed_overrides.updated_by is 'API key that made the last change. Null for changes made by the service.';
comment on column feed_overrides.actor is 'Person or key that signed in, if the last change was made with a session.';
comment on column feed_overrides.seq is 'Sequence number from which the row is current.';
create index on feed_overrides (item_id);
create index on feed_overrides (organization_id, seq);
select tocsin_protect('feed_overrides');

-- Starts with the columns of feed_overrides in the same order; tocsin_keep_override() relies on it.
create table feed_override_states (
  like feed_overrides including comments,
  seq_until bigint not null,
  kept_at timestamptz not null default clock_timestamp(),
  primary key (organization_id, item_id, seq)
);
comment on table feed_override_states is 'Previous states of overrides that changed in the last few hours, so that pages under asOf stay consistent. See item_states.';
comment on column feed_override_states.seq_until is 'Sequence number that ended the state (exclusive).';
comment on column feed_override_states.kept_at is 'When the state was stored. Deleted after a few hours.';
create index on feed_override_states (organization_id, seq_until);
create index on feed_override_states (kept_at);
select tocsin_protect('feed_override_states');

-- The writer locks the organization's private pool and increments its seq afterwards. An update that changes nothing is skipped. An
-- override without any value stays as a row, so that updatedSince reports its removal.
create function tocsin_stamp_override() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and new is not distinct from old then return null; end if;
  new.seq := (select p.seq + 1 from feed_pools p where p.organization_id = new.organization_id and p.kind = 'private');
  return new;
end $$;
comment on function tocsin_stamp_override() is 'Sets the sequence number of a changed override and skips updates that change nothing.';
create trigger stamp_override before insert or update on feed_overrides for each row execute function tocsin_stamp_override();

create function tocsin_keep_override() returns trigger language plpgsql as $$
begin
  insert into feed_override_states select old.*, new.seq, clock_timestamp();
  return null;
end $$;
comment on function tocsin_keep_override() is 'Copies the previous state of a changed override to feed_override_states.';
create trigger keep_override after update on feed_overrides for each row when (new.seq > old.seq) execute function tocsin_keep_override();

create table feed_marks (
  organization_id uuid not null references organizations (id),
  item_id uuid not null references items (id),
  at timestamptz not null,
  seq bigint not null,
  severity text,
  status text,
  indicators text,
  primary key (organization_id, item_id, at)
);
comment on table feed_marks is 'History of the overrides that exports show. Every version of an exported object can be rebuilt from it.';
comment on column feed_marks.at is 'Time of the change, later than every earlier time in the history of the item, so that modified always increases.';
comment on column feed_marks.seq is 'Sequence number of the change.';
create index on feed_marks (organization_id, seq, item_id);
select tocsin_protect('feed_marks');

create function tocsin_mark_override() returns trigger language plpgsql as $$
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
end $$;
comment on function tocsin_mark_override() is 'Records a change of an override that exports show in feed_marks.';
create trigger mark_override after insert or update or delete on feed_overrides for each row execute function tocsin_mark_override();

-- Sightings --------------------------------------------------------------------------------------------------------------------------

create table feed_sweeps (
  organization_id uuid not null references organizations (id),
  connection_id uuid not null,
  cursor text,
  due_at timestamptz not null default clock_timestamp(),
  hour timestamptz not null default 'epoch',
  queries int not null default 0,
  failures int not null default 0,
  last_error text,
  last_at timestamptz,
  primary key (organization_id, connection_id)
);
comment on table feed_sweeps is 'Progress of the search for indicators of the feed in a SIEM.';
comment on column feed_sweeps.connection_id is 'Connection. The embedded store has the id of the organization.';
comment on column feed_sweeps.cursor is 'JSON of the sequence number and item reached in each pool. Null before the first search.';
comment on column feed_sweeps.due_at is 'Next search, by the clock of the database.';
comment on column feed_sweeps.hour is 'Start of the hour that queries counts, for the hourly limit.';
create index on feed_sweeps (due_at);
select tocsin_protect('feed_sweeps');

create table feed_sightings (
  organization_id uuid not null references organizations (id),
  item_id uuid not null references items (id),
  connection_id uuid not null,
  dataset text not null,
  type text not null,
  value text not null,
  match text not null check (match in ('exact', 'url_host', 'parent_domain', 'network')),
  observed text not null,
  event_key text not null,
  event text not null,
  found_at timestamptz not null,
  primary key (organization_id, item_id, connection_id, dataset, value, event_key)
);
comment on table feed_sightings is 'Log rows that contain an active indicator of an item: the evidence that the organization is exposed.';
comment on column feed_sightings.type is 'Type of the indicator. cidr for a network.';
comment on column feed_sightings.match is 'Why the row is a sighting: the indicator itself, the host of a URL, a host below a domain, or an address in a network.';
comment on column feed_sightings.observed is 'Value of the log row, in lower case.';
comment on column feed_sightings.event_key is 'Key of the log row, for deduplication.';
comment on column feed_sightings.event is 'JSON of the log row.';
create index on feed_sightings (organization_id, item_id, found_at desc);
create index on feed_sightings (organization_id, found_at);
create index feed_sightings_value on feed_sightings (organization_id, md5(value), found_at desc);
create index feed_sightings_observed on feed_sightings (organization_id, md5(observed), found_at desc);
select tocsin_protect('feed_sightings');

create table feed_sent_sightings (
  organization_id uuid not null,
  source_id uuid not null,
  item_id uuid not null references items (id),
  value text not null,
  status text not null check (status in ('seen', 'false_positive')),
  id uuid not null,
  at timestamptz not null,
  state text not null default 'waiting' check (state in ('waiting', 'posted', 'sent', 'refused', 'withheld')),
  tries int not null default 0,
  due_at timestamptz not null default clock_timestamp(),
  changed_at timestamptz not null default clock_timestamp(),
  reference text,
  error text,
  primary key (organization_id, source_id, item_id, value, status),
  unique (organization_id, id),
  foreign key (organization_id, source_id) references feed_sources (organization_id, id)
);
comment on table feed_sent_sightings is 'What an organization tells its sources about their indicators, once each.';
comment on column feed_sent_sightings.id is 'Identity of the sighting in the other system, the same on every attempt.';
comment on column feed_sent_sightings.at is 'When the value was first seen, or called a false positive.';
comment on column feed_sent_sightings.state is 'posted: the other system has not said yet whether it accepts it. withheld: the marking of the item is stricter than the setting.';
comment on column feed_sent_sightings.tries is 'Number of attempts. Only the latest may store a result.';
comment on column feed_sent_sightings.due_at is 'Next attempt, by the clock of the database. A claim moves it by the lease.';
comment on column feed_sent_sightings.reference is 'Status resource of the other system.';
comment on column feed_sent_sightings.error is 'Why the last attempt failed, or why it was refused.';
create index feed_sent_sightings_due on feed_sent_sightings (organization_id, source_id, due_at) where state in ('waiting', 'posted');
select tocsin_protect('feed_sent_sightings');

-- TAXII ------------------------------------------------------------------------------------------------------------------------------

-- Objects are added to a collection when the organization reads it, one transaction at a time, so that date_added increases in the
-- order in which the objects become visible.
create table taxii_collections (
  organization_id uuid not null references organizations (id),
  collection text not null,
  last_added timestamptz not null default 'epoch',
  primary key (organization_id, collection)
);
comment on table taxii_collections is 'TAXII collections of an organization.';
comment on column taxii_collections.last_added is 'Latest date_added.';
select tocsin_protect('taxii_collections');

create table taxii_cursors (
  organization_id uuid not null references organizations (id),
  collection text not null,
  source text not null,
  seq bigint not null,
  item_id uuid not null,
  primary key (organization_id, collection, source)
);
comment on table taxii_cursors is 'Position up to which a collection includes the pools, the relevant items and the overrides.';
comment on column taxii_cursors.source is 'List that the cursor follows: a pool, the relevant items of a profile version, or the overrides.';
select tocsin_protect('taxii_cursors');

create table taxii_objects (
  organization_id uuid not null,
  collection text not null,
  object_id text not null,
  version text not null,
  type text not null,
  spec_version text not null,
  date_added timestamptz not null,
  item_id uuid not null,
  item_version int not null,
  gone boolean not null,
  created text,
  restored boolean not null default false,
  content text,
  term text,
  primary key (organization_id, collection, object_id, version)
);
comment on table taxii_objects is 'STIX objects in a collection. Their content is built from the item version, unless several items share the object.';
comment on column taxii_objects.version is 'The object''s modified time. Empty for observables, which have none.';
comment on column taxii_objects.item_id is 'Item that contains the object.';
comment on column taxii_objects.gone is 'True if the item no longer contains the object.';
comment on column taxii_objects.created is 'When the source created an object that came as STIX, which its revocation repeats. Null for objects that we write.';
comment on column taxii_objects.restored is 'True if an item contains the object again after it was revoked. The version then replaces its own modified time.';
comment on column taxii_objects.content is 'JSON of an object that several items share. Null for an object of one item.';
comment on column taxii_objects.term is 'Value in item_terms of the actor, malware or tool that several items share. It is visible as long as a visible item contains it.';
-- While a collection is filled, its statistics say that it is empty, and every index that starts with the collection looks as good as the primary
-- key to find an object. These two indexes cannot serve such a search, which would take seconds a statement.
create index taxii_objects_by_date on taxii_objects (organization_id, collection, date_added) where date_added >= 'epoch';
create index taxii_objects_by_item on taxii_objects (item_id, organization_id, collection);
select tocsin_protect('taxii_objects');

-- Several items can contain one STIX object, which a collection adds for the first of them. The others decide whether it is still offered when
-- that one drops it or is erased.
create table taxii_object_items (
  organization_id uuid not null,
  collection text not null,
  object_id text not null,
  item_id uuid not null,
  primary key (organization_id, collection, object_id, item_id)
);
comment on table taxii_object_items is 'Items that contain a STIX object of a collection, besides the item for which it was added.';
create index on taxii_object_items (item_id, organization_id, collection);
select tocsin_protect('taxii_object_items');
