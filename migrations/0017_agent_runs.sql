-- What the built-in agents did, and with what it cost.
create table agent_runs (
  organization_id uuid not null,
  id uuid not null,
  agent_id uuid not null,
  slot_at timestamptz,
  status text not null check (status in ('running', 'completed', 'failed')),
  started_at timestamptz not null,
  finished_at timestamptz,
  model_alias text not null,
  model text,
  tokens bigint not null default 0,
  cost_usd numeric(16, 8) not null default 0,
  outcome text not null default '{}',
  failure text,
  item_ids text[] not null default '{}',
  primary key (organization_id, id),
  foreign key (organization_id, agent_id) references agents (organization_id, id)
);
create index on agent_runs (organization_id, agent_id, started_at desc, id desc);
select tocsin_protect('agent_runs');

