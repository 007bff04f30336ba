-- What an organization cares about. `version` moves with every change; `built_version` is the one that stored relevance answers for.
create table feed_profiles (
  organization_id uuid primary key references organizations (id),
  profile text not null,
  -- An empty profile is none.
  has_profile boolean not null,
  version int not null,
  built_version int not null default 0,
  updated_at timestamptz not null
);
select tocsin_protect('feed_profiles');

-- From which sequence number of the organization's own pool on its relevance answers for a version of its profile.
create table feed_relevance_builds (
  organization_id uuid not null references organizations (id),
  version int not null,
  has_profile boolean not null,
  seq_from bigint not null,
  built_at timestamptz not null,
  primary key (organization_id, version)
);

-- Items that reach the threshold, and no others. Valid from one sequence number of the organization's own pool to another.
create table feed_relevance (
  organization_id uuid not null references organizations (id),
  version int not null,
  item_id uuid not null references items (id),
  added_to_feed_at timestamptz not null,
  score numeric(3, 2) not null,
  reasons text not null,
  judged_at timestamptz not null,
  seq_from bigint not null,
  seq_until bigint not null default 9223372036854775807,
  -- From here on only readers under an earlier `asOf` see it.
  ended_at timestamptz,
  primary key (organization_id, version, item_id, seq_from)
);
create index on feed_relevance (organization_id, version, added_to_feed_at desc, item_id desc);
create index on feed_relevance (item_id);
create index on feed_relevance (ended_at) where ended_at is not null;

-- How far a pool has been looked through for a version. Items move to the end of their pool with every change, so nothing is passed over.
create table feed_relevance_cursors (
  organization_id uuid not null references organizations (id),
  version int not null,
  pool_id uuid not null references feed_pools (id),
  seq bigint not null,
  item_id uuid not null,
  primary key (organization_id, version, pool_id)
);

select tocsin_protect('feed_relevance_builds');
select tocsin_protect('feed_relevance');
select tocsin_protect('feed_relevance_cursors');
