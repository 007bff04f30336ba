-- What items are compared by beyond their terms. `own_doc` is a root's document without the figures of its group, where they differ.
alter table items add column sketch text,
  add column identifying int not null default 0,
  add column own_doc text,
  -- What a person took back, as it was by itself: machines leave it alone until the person takes that back.
  add column held_back text,
  -- Which reading of its text it comes from.
  add column reading int not null default 0;
create index on items (reading);
alter table item_versions add column note text;

-- `alias`: names of one OSV record. `text`: what alike texts share. An identifying indicator can tell one story from another.
alter table item_terms drop constraint item_terms_kind_check,
  add constraint item_terms_kind_check check (kind in ('indicator', 'cve', 'technique', 'actor', 'malware', 'product', 'alias', 'text')),
  add column identifying boolean not null default false;

drop index item_terms_kind_value_idx;
create index on item_terms (kind, value, pool_id, item_id);
drop index items_pool_id_canonical_key_idx;
create index on items (canonical_key, pool_id);

-- Pairs that the rules take for one story, in the view of those who see the pool. The smaller id is `a`.
create table item_links (
  pool_id uuid not null references feed_pools (id),
  a uuid not null references items (id),
  b uuid not null references items (id),
  weight real not null,
  primary key (a, b, pool_id)
);
create index on item_links (b);

-- What a person said of a pair; the rules never undo it.
create table item_decisions (
  pool_id uuid not null references feed_pools (id),
  a uuid not null references items (id),
  b uuid not null references items (id),
  verdict text not null check (verdict in ('together', 'apart')),
  decided_at timestamptz not null,
  decided_by text,
  primary key (pool_id, a, b)
);
create index on item_decisions (pool_id, b);

-- Items to be compared with other pools' once their own transaction is over.
create table item_arrivals (
  item_id uuid primary key references items (id),
  pool_id uuid not null references feed_pools (id)
);
create index on item_arrivals (pool_id);

select tocsin_protect_items('item_links');
select tocsin_protect_items('item_decisions');
select tocsin_protect_items('item_arrivals');

-- What one organization says of an item that others see too. It moves the organization's private pool and nothing else.
create table feed_overrides (
  organization_id uuid not null references organizations (id),
  item_id uuid not null references items (id),
  status text check (status = 'retracted'),
  note text,
  -- What was asked for: to stand apart from its group, or to belong to another item.
  stands_apart boolean not null default false,
  merged_into uuid references items (id),
  -- What follows from it and from the others' decisions: the root that the organization sees, null for none.
  moved boolean not null default false,
  duplicate_of uuid references items (id),
  updated_at timestamptz not null,
  updated_by text,
  primary key (organization_id, item_id)
);
create index on feed_overrides (item_id);
select tocsin_protect('feed_overrides');
