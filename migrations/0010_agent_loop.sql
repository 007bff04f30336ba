-- What models did and used up. `judging` of a run: figures that its score is made of.
alter table runs add column judging text not null default '{}';

-- A preview spends on a detection that is none yet, so nothing is referred to.
-- Tokens and cost by detection, alias and day of slot time: what the budgets of a day and of a month are held against.
create table model_usage (
  organization_id uuid not null,
  detection_id uuid not null,
  alias text not null,
  day date not null,
  tokens bigint not null default 0,
  cost_usd numeric(16, 8) not null default 0,
  primary key (organization_id, detection_id, alias, day)
);
create index on model_usage (organization_id, alias, day);
select tocsin_protect('model_usage');

-- An alias that did not answer, as an organization met it: no run asks it again before a check found it well. `check_at`: the database's clock.
create table model_pauses (
  organization_id uuid not null references organizations (id),
  alias text not null,
  kind text not null,
  message text not null,
  since_at timestamptz not null,
  check_at timestamptz not null,
  primary key (organization_id, alias)
);
create index on model_pauses (check_at);
select tocsin_protect('model_pauses');

-- Pairs of detection and tool that an administrator allowed; `settings` holds the address of http_get.
create table tool_grants (
  organization_id uuid not null,
  detection_id uuid not null,
  tool text not null,
  settings text not null default '{}',
  key_id text,
  created_at timestamptz not null,
  primary key (organization_id, detection_id, tool),
  foreign key (organization_id, detection_id) references agents (organization_id, id)
);
select tocsin_protect('tool_grants');

-- Finished runs that the judge model has still to grade, or a shadow to judge as well. `retry_at` and the lease: the database's clock.
create table run_reviews (
  organization_id uuid not null,
  run_id uuid not null,
  kind text not null check (kind in ('grade', 'shadow')),
  detection_id uuid not null,
  due_at timestamptz not null,
  day date not null,
  failures int not null default 0,
  retry_at timestamptz not null default now(),
  lease_until timestamptz,
  primary key (organization_id, run_id, kind),
  foreign key (organization_id, detection_id) references agents (organization_id, id)
);
create index on run_reviews (retry_at);
select tocsin_protect('run_reviews');

-- What the judge model thinks of each verdict, to be held against what people say of the hits.
create table judge_opinions (
  organization_id uuid not null,
  run_id uuid not null,
  detection_id uuid not null,
  entity text not null,
  upheld boolean not null,
  primary key (organization_id, run_id, entity),
  foreign key (organization_id, detection_id) references agents (organization_id, id)
);
create index on judge_opinions (organization_id, detection_id);
select tocsin_protect('judge_opinions');

-- A second version that judges alongside and delivers nothing; null: as the detection has it.
create table shadows (
  organization_id uuid not null,
  detection_id uuid not null,
  prompt_version int,
  model_alias text,
  created_at timestamptz not null,
  primary key (organization_id, detection_id),
  foreign key (organization_id, detection_id) references agents (organization_id, id)
);
select tocsin_protect('shadows');

create table shadow_verdicts (
  organization_id uuid not null,
  candidate_id uuid not null,
  detection_id uuid not null,
  run_id uuid not null,
  at timestamptz not null,
  differs text[] not null default '{}',
  compared text not null,
  primary key (organization_id, candidate_id),
  foreign key (organization_id, detection_id) references agents (organization_id, id)
);
create index on shadow_verdicts (organization_id, detection_id, at desc);
select tocsin_protect('shadow_verdicts');
