-- JSON that is only handed through is text, not jsonb: it leaves as it came, unparsed.
create table agents (
  organization_id uuid not null references organizations (id),
  id uuid not null,
  agent_type text not null,
  is_built_in boolean not null default false,
  built_in_agent_type text not null default 'threat-research',
  name text not null,
  description text not null default '',
  tool_names text[] not null default '{}',
  inputs text not null default '[]',
  context_docs text not null default '[]',
  model_alias text not null default 'default',
  planning_mode text not null default 'auto',
  mode text not null default 'standard',
  structured_output_schema text,
  tags text[] not null default '{}',
  workflow_story_import_id text,
  detection_category text,
  detection_query text,
  siem_type text,
  connection_id uuid,
  entity_field text,
  time_field text,
  lookback_minutes int,
  suppression_minutes int,
  detection_cadence text,
  custom_cron_schedule text,
  trigger_id uuid not null,
  enabled boolean not null default false,
  disabled_reason text,
  is_suggestion boolean not null default false,
  rationale text,
  source_item_ids text[] not null default '{}',
  suggestion_fingerprint text,
  dismiss_reason text,
  dismiss_note text,
  enabled_before_deletion boolean,
  active_prompt_id uuid,
  revision int not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deleted_at timestamptz,
  primary key (organization_id, id)
);
create index on agents (organization_id, created_at desc, id desc) where agent_type = 'detection' and not is_suggestion and deleted_at is null;
create index on agents (organization_id, deleted_at desc) where is_suggestion and deleted_at is not null;
create index on agents (organization_id, suggestion_fingerprint) where is_suggestion;
create unique index one_built_in_of_each on agents (organization_id, built_in_agent_type) where is_built_in;
select tocsin_protect('agents');

create table agent_prompts (
  organization_id uuid not null,
  id uuid not null,
  agent_id uuid not null,
  version int not null,
  prompt text not null,
  description text not null default '',
  created_at timestamptz not null,
  primary key (organization_id, id),
  unique (organization_id, agent_id, version),
  foreign key (organization_id, agent_id) references agents (organization_id, id)
);
select tocsin_protect('agent_prompts');

-- The definition as it was at each revision: a run pins one and keeps it over its attempts.
create table agent_revisions (
  organization_id uuid not null,
  agent_id uuid not null,
  revision int not null,
  definition text not null,
  key_id text,
  created_at timestamptz not null,
  primary key (organization_id, agent_id, revision),
  foreign key (organization_id, agent_id) references agents (organization_id, id)
);
select tocsin_protect('agent_revisions');
