-- How far the items of the feed were looked for in a SIEM of an organization; the embedded store has the organization's own id.
create table feed_sweeps (
  organization_id uuid not null references organizations (id),
  connection_id uuid not null,
  -- Sequence number and item by pool; null: not begun.
  cursor text,
  due_at timestamptz not null default clock_timestamp(),
  hour timestamptz not null default 'epoch',
  queries int not null default 0,
  failures int not null default 0,
  last_error text,
  last_at timestamptz,
  primary key (organization_id, connection_id)
);
create index on feed_sweeps (due_at);
select tocsin_protect('feed_sweeps');

-- Rows of an organization's logs that hold an active indicator of an item: the evidence that it is exposed.
create table feed_exposures (
  organization_id uuid not null references organizations (id),
  item_id uuid not null references items (id),
  connection_id uuid not null,
  dataset text not null,
  type text not null,
  value text not null,
  event_key text not null,
  event text not null,
  found_at timestamptz not null,
  primary key (organization_id, item_id, connection_id, dataset, value, event_key)
);
create index on feed_exposures (organization_id, item_id, found_at desc);
select tocsin_protect('feed_exposures');
