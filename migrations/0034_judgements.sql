-- Which items the agent `threat-relevancy` was asked about, so that it is asked again only of another version of the item or the profile.
create table feed_judgements (
  organization_id uuid not null references organizations (id),
  item_id uuid not null references items (id),
  item_version int not null,
  profile_version int not null,
  judged_at timestamptz not null,
  primary key (organization_id, item_id)
);
create index on feed_judgements (item_id);
select tocsin_protect('feed_judgements');
