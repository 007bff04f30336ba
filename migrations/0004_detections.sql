-- Detections and built-in agents: definitions, prompts, revisions, tests, skills, granted tools and shadow versions, and the detections that come from the
-- library, from Sigma rules and from packs.
--
-- JSON that the service only passes through is stored as text, not jsonb, so that it is returned byte for byte as it was received.

create table agents (
  organization_id uuid not null references organizations (id),
  id uuid not null,
  agent_type text not null,
  is_built_in boolean not null default false,
  built_in_agent_type text not null default 'threat-research',
  name text not null,
  description text not null default '',
  tags text[] not null default '{}',
  workflow_story_import_id text,

  -- Model and tools
  model_alias text not null default 'default',
  planning_mode text not null default 'auto',
  mode text not null default 'standard',
  tool_names text[] not null default '{}',
  skills text,
  inputs text not null default '[]',
  context_docs text not null default '[]',
  structured_output_schema text,
  budgets text,
  active_prompt_id uuid,
  latest_prompt_version int not null default 1,

  -- Query and analysis
  detection_category text,
  detection_query text,
  headline text,
  siem_type text,
  connection_id uuid,
  entity_field text,
  time_field text,
  tuning text,
  lookback_minutes int,
  continuous boolean,
  suppression_minutes int,
  dismiss_confidence int,
  acceptance_criteria text,
  on_undecided text,

  -- Schedule
  detection_cadence text,
  custom_cron_schedule text,
  cron_timezone text,
  trigger_id uuid not null,
  enabled boolean not null default false,
  disabled_reason text,
  enabled_before_deletion boolean,

  -- Suggestion
  is_suggestion boolean not null default false,
  technique text,
  rationale text,
  evidence text not null default '[]',
  estimate text,
  source_item_ids text[] not null default '{}',
  suggestion_fingerprint text,
  suggestion_key text,
  dismiss_reason text,
  dismiss_note text,

  revision int not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deleted_at timestamptz,
  primary key (organization_id, id)
);
comment on table agents is 'Detections, suggested detections and built-in agents.';
comment on column agents.agent_type is 'detection or response.';
comment on column agents.built_in_agent_type is 'threat-relevancy or threat-research. Only meaningful if is_built_in.';
comment on column agents.skills is 'JSON array of the names of skills. Null if there are none.';
comment on column agents.inputs is 'JSON array of input parameters.';
comment on column agents.context_docs is 'JSON array of references to external documents.';
comment on column agents.structured_output_schema is 'JSON Schema of the structured output. Null if there is none.';
comment on column agents.budgets is 'JSON of budgets that replace those of the model alias. Null if the alias''s budgets apply.';
comment on column agents.active_prompt_id is 'Prompt version in use.';
comment on column agents.latest_prompt_version is 'Highest prompt version assigned so far. The active version may be older.';
comment on column agents.connection_id is 'SIEM connection, if the detection specifies one. See tocsin_connection().';
comment on column agents.entity_field is 'Result column that identifies the entity. Null if the analysis chooses it.';
comment on column agents.time_field is 'Result column with the time of a row. Null if the analysis chooses it.';
comment on column agents.tuning is 'JSON of the thresholds of the analysis that differ from the defaults. Null if none does.';
comment on column agents.continuous is 'True if events are matched when they arrive, besides the schedule. Null: they are not.';
comment on column agents.lookback_minutes is 'Maximum age of a window that was not examined on time and is still examined. Null for the default.';
comment on column agents.suppression_minutes is 'Period in which a verdict applies to later candidates of the same entity and kind.';
comment on column agents.dismiss_confidence is 'Confidence from which a judge may dismiss a candidate. Null is 70.';
comment on column agents.acceptance_criteria is 'JSON array of what a run of a model must fulfill: sentences, or checks that code decides. Null if there are none.';
comment on column agents.on_undecided is 'raise or review: what becomes of a candidate that the judge leaves undecided. Null is raise.';
comment on column agents.headline is 'Template of the headline of a hit, with fields of the rows in {{}}. Null for the default headline.';
comment on column agents.detection_cadence is 'hourly, daily or weekly. Null if custom_cron_schedule applies or the detection has no schedule.';
comment on column agents.cron_timezone is 'IANA time zone of the schedule. Null is UTC.';
comment on column agents.trigger_id is 'Id of the schedule trigger in the API.';
comment on column agents.enabled_before_deletion is 'Value of enabled when the detection was deleted, restored together with it.';
comment on column agents.technique is 'ATT&CK technique that a suggestion detects.';
comment on column agents.evidence is 'JSON array of the passages of feed items that a suggestion is based on.';
comment on column agents.estimate is 'JSON of the hits to expect from a suggestion. Null if unknown or if its query has changed.';
comment on column agents.source_item_ids is 'Feed items that a suggestion is based on.';
comment on column agents.suggestion_fingerprint is 'Fingerprint of the current text of a suggestion, for deduplication.';
comment on column agents.suggestion_key is 'Deduplication key of the original proposal. Unlike the fingerprint, it does not change when the text is edited.';
comment on column agents.revision is 'Current revision. See agent_revisions.';
comment on column agents.deleted_at is 'Time of deletion, or of dismissal for a suggestion.';
create index on agents (organization_id, created_at desc, id desc) where agent_type = 'detection' and not is_suggestion and deleted_at is null;
create index on agents (organization_id, deleted_at desc) where is_suggestion and deleted_at is not null;
create index on agents (organization_id, suggestion_fingerprint) where is_suggestion;
create index on agents (organization_id, suggestion_key) where suggestion_key is not null;
create unique index one_built_in_of_each on agents (organization_id, built_in_agent_type) where is_built_in;
select tocsin_protect('agents');

create table agent_prompts (
  organization_id uuid not null,
  id uuid not null,
  agent_id uuid not null,
  version int not null,
  prompt text not null,
  description text not null default '',
  key_id text,
  actor text,
  created_at timestamptz not null,
  primary key (organization_id, id),
  unique (organization_id, agent_id, version),
  foreign key (organization_id, agent_id) references agents (organization_id, id)
);
comment on table agent_prompts is 'Versions of the system prompt of a detection or built-in agent.';
comment on column agent_prompts.key_id is 'API key that wrote the version. Null for versions written by the service or a session without a key.';
comment on column agent_prompts.actor is 'Person or key that signed in, if the version was written with a session.';
select tocsin_protect('agent_prompts');

create table agent_revisions (
  organization_id uuid not null,
  agent_id uuid not null,
  revision int not null,
  definition text not null,
  key_id text,
  actor text,
  created_at timestamptz not null,
  primary key (organization_id, agent_id, revision),
  foreign key (organization_id, agent_id) references agents (organization_id, id)
);
comment on table agent_revisions is 'Definition of a detection at each revision. A run pins one revision and uses it in all of its attempts.';
comment on column agent_revisions.definition is 'JSON of the definition.';
comment on column agent_revisions.key_id is 'API key that made the change. Null for changes made by the service or a session without a key.';
comment on column agent_revisions.actor is 'Person or key that signed in, if the change was made with a session.';
select tocsin_protect('agent_revisions');

create table query_warnings (
  organization_id uuid not null,
  detection_id uuid not null,
  revision int not null,
  warnings text not null,
  primary key (organization_id, detection_id),
  foreign key (organization_id, detection_id) references agents (organization_id, id)
);
comment on table query_warnings is 'Warnings about the query of a detection, from its newest run or from the check when it was saved. No row: none so far.';
comment on column query_warnings.revision is 'Revision of the detection that was run or checked. Warnings of an earlier one are not shown.';
comment on column query_warnings.warnings is 'JSON array of code, field and detail.';
select tocsin_protect('query_warnings');

create table detection_tests (
  organization_id uuid not null,
  detection_id uuid not null,
  local_query text,
  cases text not null,
  updated_at timestamptz not null,
  primary key (organization_id, detection_id),
  foreign key (organization_id, detection_id) references agents (organization_id, id)
);
comment on table detection_tests is 'Test cases of a detection.';
comment on column detection_tests.local_query is 'Query for the embedded log store that replaces the detection''s query in tests. Null if its own query runs there.';
comment on column detection_tests.cases is 'JSON array of test cases.';
select tocsin_protect('detection_tests');

create table rehearsals (
  organization_id uuid not null references organizations (id),
  technique text not null,
  at timestamptz not null,
  events integer not null,
  datasets text[] not null,
  sources text[] not null,
  primary key (organization_id, technique)
);
comment on table rehearsals is 'The last rehearsal of each ATT&CK technique: which synthetic events were made for it.';
comment on column rehearsals.events is 'Number of synthetic events. 0: no dataset has had events in which the technique would show.';
comment on column rehearsals.datasets is 'Datasets in whose form the events were made.';
comment on column rehearsals.sources is 'Kinds of logs in which the technique would show.';
select tocsin_protect('rehearsals');

create table rehearsed_detections (
  organization_id uuid not null,
  detection_id uuid not null,
  due_at timestamptz,
  rehearsed_at timestamptz,
  fired text[] not null default '{}',
  muted text[] not null default '{}',
  failure text,
  primary key (organization_id, detection_id),
  foreign key (organization_id, detection_id) references agents (organization_id, id)
);
comment on table rehearsed_detections is 'What each detection did with the synthetic events of the techniques.';
comment on column rehearsed_detections.due_at is 'When it is rehearsed next: at night, or at once after a change. Null if it was not enabled the last time.';
comment on column rehearsed_detections.fired is 'Techniques for which it would have raised a hit.';
comment on column rehearsed_detections.muted is 'Techniques for which an exception or an allow-list would have hidden what it found.';
comment on column rehearsed_detections.failure is 'Why its query failed on the events of a technique. Null if it did not.';
create index on rehearsed_detections (due_at) where due_at is not null;
select tocsin_protect('rehearsed_detections');

-- A trigger, so that no way to create or change a detection can forget it.
create function tocsin_queue_rehearsal() returns trigger language plpgsql as $$
begin
  insert into rehearsed_detections (organization_id, detection_id, due_at) values (new.organization_id, new.id, new.updated_at)
  on conflict (organization_id, detection_id) do update set due_at = least(rehearsed_detections.due_at, excluded.due_at);
  return null;
end $$;
create trigger queue_new_rehearsal after insert on agents for each row
  when (new.agent_type = 'detection' and not new.is_suggestion) execute function tocsin_queue_rehearsal();
create trigger queue_changed_rehearsal after update on agents for each row
  when (new.agent_type = 'detection' and not new.is_suggestion
    and (old.revision, old.is_suggestion, old.enabled) is distinct from (new.revision, new.is_suggestion, new.enabled))
  execute function tocsin_queue_rehearsal();

create table tool_grants (
  organization_id uuid not null,
  detection_id uuid not null,
  tool text not null,
  settings text not null default '{}',
  key_id text,
  actor text,
  created_at timestamptz not null,
  primary key (organization_id, detection_id, tool),
  foreign key (organization_id, detection_id) references agents (organization_id, id)
);
comment on table tool_grants is 'Tools that an administrator has allowed for a detection.';
comment on column tool_grants.settings is 'JSON: the allowed address of http_get, whether the results are trusted, and whether the model may send text of its own.';
comment on column tool_grants.key_id is 'API key that granted the tool.';
comment on column tool_grants.actor is 'Person or key that signed in, if the tool was granted with a session.';
select tocsin_protect('tool_grants');

create table agent_settings (
  organization_id uuid primary key references organizations (id),
  default_tool_names text[],
  hidden_datasets text[] not null,
  hidden_fields text[] not null,
  audit_percent double precision not null,
  updated_at timestamptz not null
);
comment on table agent_settings is 'What agents of an organization may use. An organization without a row has changed nothing.';
comment on column agent_settings.default_tool_names is 'Tools of new detections. Null: none.';
comment on column agent_settings.hidden_datasets is 'Datasets that are kept from models.';
comment on column agent_settings.hidden_fields is 'Fields that are kept from models, with dots for keys inside of objects.';
comment on column agent_settings.audit_percent is 'Percentage of dismissals that are judged again.';
select tocsin_protect('agent_settings');

create table agent_triggers (
  organization_id uuid not null,
  id uuid not null,
  agent_id uuid not null,
  source text not null check (source in ('cron', 'hit.created', 'incident.created', 'incident.updated', 'incident.closed', 'webhook')),
  name text not null,
  enabled boolean not null,
  settings text not null default '{}',
  sealed bytea,
  next_at timestamptz,
  skipped int not null default 0,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (organization_id, id),
  foreign key (organization_id, agent_id) references agents (organization_id, id)
);
comment on table agent_triggers is 'What starts runs of a response agent. The one with the source cron follows the schedule of the agent.';
comment on column agent_triggers.settings is 'JSON: the filter of events, the values of inputs, and how many runs the trigger may start in an hour.';
comment on column agent_triggers.sealed is 'Encrypted secret that signs the calls of a webhook. Null for other sources.';
comment on column agent_triggers.next_at is 'Next slot of an enabled schedule. Null otherwise.';
comment on column agent_triggers.skipped is 'Number of events that started no run, because the trigger had started as many as it may.';
create index on agent_triggers (organization_id, agent_id);
create index agent_triggers_events on agent_triggers (organization_id, source) where enabled;
create index agent_triggers_webhooks on agent_triggers (id) where source = 'webhook';
create index agent_triggers_due on agent_triggers (next_at) where next_at is not null;
select tocsin_protect('agent_triggers');

create table trigger_events (
  organization_id uuid not null,
  trigger_id uuid not null,
  event_key text not null,
  run_id uuid,
  at timestamptz not null,
  primary key (organization_id, trigger_id, event_key),
  foreign key (organization_id, trigger_id) references agent_triggers (organization_id, id) on delete cascade
);
comment on table trigger_events is 'Events that a trigger has handled, so that each starts one run at most.';
comment on column trigger_events.event_key is 'The slot of a schedule, the ID of a hit, that of an incident with its revision, or the ID that the sender of a webhook gave its call.';
comment on column trigger_events.run_id is 'The run that the event started. Null if the trigger had started as many as it may.';
create index on trigger_events (organization_id, trigger_id, at);
select tocsin_protect('trigger_events');

create table shadows (
  organization_id uuid not null,
  detection_id uuid not null,
  prompt_version int,
  model_alias text,
  created_at timestamptz not null,
  primary key (organization_id, detection_id),
  foreign key (organization_id, detection_id) references agents (organization_id, id)
);
comment on table shadows is 'Second version of a detection that judges the same candidates for comparison and delivers nothing.';
comment on column shadows.prompt_version is 'Prompt version of the shadow. Null for the detection''s own.';
comment on column shadows.model_alias is 'Model alias of the shadow. Null for the detection''s own.';
select tocsin_protect('shadows');

create table skill_versions (
  organization_id uuid not null references organizations (id),
  id uuid not null,
  name text not null,
  version int not null,
  description text not null,
  details text not null,
  body text not null,
  files text not null,
  key_id text,
  actor text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (organization_id, id),
  unique (organization_id, name, version)
);
comment on table skill_versions is 'Instructions for models in the Agent Skills form. The highest version of a name is the current one. Skills in skills/ of the program have no row until the organization changes them.';
comment on column skill_versions.details is 'JSON of the other fields of SKILL.md: license, compatibility, metadata and allowedTools.';
comment on column skill_versions.body is 'Markdown of SKILL.md below its front matter.';
comment on column skill_versions.files is 'JSON array of the other files, each with its path and either text or base64.';
comment on column skill_versions.key_id is 'API key that wrote the version, or that erased a value in it.';
comment on column skill_versions.actor is 'Person or key that signed in, if this was done with a session.';
comment on column skill_versions.updated_at is 'When the version was written, or a value in it was erased.';
select tocsin_protect('skill_versions');

create table library_installs (
  organization_id uuid not null,
  library_id text not null,
  detection_id uuid not null,
  version text not null,
  fields text not null,
  datasets text not null,
  updated_at timestamptz not null,
  primary key (organization_id, library_id),
  foreign key (organization_id, detection_id) references agents (organization_id, id)
);
comment on table library_installs is 'Shipped detections and response agents that the organization has installed, with the version of each.';
comment on column library_installs.library_id is 'Id of the shipped detection: the name of its file in library/. Of a shipped response agent, the path of its file, such as agents/triage.';
comment on column library_installs.version is 'Version of the shipped detection that was installed last.';
comment on column library_installs.fields is 'JSON of the fields and tests of that version. What differs from them was edited by the organization.';
comment on column library_installs.datasets is 'JSON object: the organization''s name of each dataset that has another name there.';
select tocsin_protect('library_installs');

create table rule_sources (
  organization_id uuid not null references organizations (id),
  id uuid not null,
  name text not null,
  url text not null,
  min_level text not null,
  statuses text[] not null,
  enabled boolean not null,
  version text,
  applied_at timestamptz,
  available text,
  available_at timestamptz,
  archive bytea,
  etag text,
  next_check_at timestamptz,
  claimed_until timestamptz,
  checked_at timestamptz,
  failure text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (organization_id, id),
  unique (organization_id, name)
);
comment on table rule_sources is 'Addresses of sets of Sigma rules.';
comment on column rule_sources.min_level is 'The lowest level of the rules that are imported.';
comment on column rule_sources.statuses is 'The statuses of the rules that are imported.';
comment on column rule_sources.enabled is 'Whether the address is checked on schedule.';
comment on column rule_sources.version is 'Start of the SHA-256 of the archive whose rules were imported last.';
comment on column rule_sources.available is 'Start of the SHA-256 of archive.';
comment on column rule_sources.available_at is 'When archive was fetched.';
comment on column rule_sources.archive is 'The newest archive, as it was sent.';
comment on column rule_sources.etag is 'Validator of archive at its address.';
comment on column rule_sources.next_check_at is 'When the address is checked next. Null if it is not.';
comment on column rule_sources.claimed_until is 'Until when a process may fetch the archive. Null if none does.';
comment on column rule_sources.failure is 'Why the last check failed. Null if it did not.';
create index on rule_sources (next_check_at);
select tocsin_protect('rule_sources');

create table sigma_imports (
  organization_id uuid not null,
  rule_id text not null,
  detection_id uuid not null,
  rule_source_id uuid,
  author text not null,
  license text,
  modified text,
  fields text not null,
  dataset text,
  query_digest text,
  rule_query text,
  updated_at timestamptz not null,
  primary key (organization_id, rule_id),
  foreign key (organization_id, detection_id) references agents (organization_id, id),
  foreign key (organization_id, rule_source_id) references rule_sources (organization_id, id)
);
create index on sigma_imports (organization_id, rule_source_id) where rule_source_id is not null;
create index on sigma_imports (organization_id, detection_id);
comment on table sigma_imports is 'Sigma rules that the organization has imported, with the detection of each.';
comment on column sigma_imports.rule_id is 'Id of the rule, or its title if it has no id.';
comment on column sigma_imports.rule_source_id is 'Rule source that brought the rule. Null for rules that were sent.';
comment on column sigma_imports.author is 'Authors as the rule has them, empty if it has none.';
comment on column sigma_imports.license is 'License that the rule has. Null if only its source has one.';
comment on column sigma_imports.modified is 'Date of the rule''s last change, as its author wrote it. An older rule does not replace it.';
comment on column sigma_imports.fields is 'JSON of the fields that the import gave the detection last. What differs from them was edited by the organization.';
comment on column sigma_imports.dataset is 'Dataset that the query in fields reads, like the next two columns null for correlation rules and for queries of other SIEMs.';
comment on column sigma_imports.query_digest is 'SHA-256 of that query, in hexadecimal digits.';
comment on column sigma_imports.rule_query is 'JSON of what that query was written from, so that rules of one dataset run as a set.';
select tocsin_protect('sigma_imports');

create table pack_installs (
  organization_id uuid not null,
  pack text not null,
  file text not null,
  detection_id uuid not null,
  version text not null,
  fields text not null,
  applied_at timestamptz not null,
  primary key (organization_id, pack, file),
  foreign key (organization_id, detection_id) references agents (organization_id, id)
);
comment on table pack_installs is 'Detections that an organization has from a pack of the operator, by file of the pack.';
comment on column pack_installs.version is 'Version of the pack that was applied last.';
comment on column pack_installs.fields is 'JSON of the fields and tests that were applied last, overrides included. What differs from them was edited by the organization.';
create index on pack_installs (organization_id, detection_id);
select tocsin_protect('pack_installs');
