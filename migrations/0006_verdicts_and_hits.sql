-- From a candidate to a hit: candidates, suppression, hits and their reviews, exceptions, and the later reviews by the judge model.

-- Candidates -------------------------------------------------------------------------------------------------------------------------

create table candidates (
  organization_id uuid not null,
  id uuid not null,
  detection_id uuid not null,
  run_id uuid not null,
  trigger text not null,
  window_from timestamptz not null,
  window_to timestamptz not null,
  entity text not null,
  entity_type text not null,
  kind text not null,
  kind_key text not null,
  event_key text,
  severity text not null,
  facts text not null,
  rows text not null,
  generation text not null,
  learned boolean not null default true,
  state text not null default 'pending',
  verdict text,
  observations text,
  hit_id uuid,
  case_id uuid,
  judged_run_id uuid,
  arrived_at timestamptz,
  created_at timestamptz not null,
  judged_at timestamptz,
  primary key (organization_id, id),
  foreign key (organization_id, detection_id) references agents (organization_id, id)
);
comment on table candidates is 'Findings of a window that need a verdict. Inserted in the same transaction as the memory and coverage of the window, and judged one by one afterwards.';
comment on column candidates.run_id is 'Run that found the candidate.';
comment on column candidates.trigger is 'Trigger of that run.';
comment on column candidates.kind is 'Detection category.';
comment on column candidates.kind_key is 'Finding without times and counts. Part of the key of the hit.';
comment on column candidates.event_key is 'Key of the hit of a candidate that is a single event, which the continuous matching and the slots share. Null for all others, and in manual runs.';
comment on column candidates.facts is 'JSON of the facts that the analysis computed.';
comment on column candidates.rows is 'JSON array of the log rows shown to the judge.';
comment on column candidates.generation is 'Generation of the memory that the candidate was compared with.';
comment on column candidates.state is 'pending, judged, raised (a hit from the facts, which the model may still judge), review (waits for a person), suppressed or outdated (the window no longer contains it, or its events were withdrawn).';
comment on column candidates.verdict is 'JSON of the verdict. Null if the candidate became a hit without one.';
comment on column candidates.observations is 'JSON array of the tool results that a verdict without a hit cites. Null otherwise.';
comment on column candidates.case_id is 'Case of the review queue that the candidate waits with, which has the ID of its first candidate.';
comment on column candidates.arrived_at is 'Arrival of the first event of the batch that was matched when it arrived. Null for what a slot found.';
comment on column candidates.judged_run_id is 'Run that judged the candidate, or raised it from its facts. Null if no run did.';
create index on candidates (organization_id, detection_id, window_from, id) where state = 'pending';
create index candidates_raised on candidates (organization_id, detection_id, created_at) where state = 'raised';
create index candidates_review on candidates (organization_id, case_id) where state = 'review';
create index candidates_dismissed on candidates (judged_at) where state = 'judged' and hit_id is null;
create index candidates_window on candidates (organization_id, detection_id, window_from);
create index on candidates (organization_id, run_id);
create unique index candidates_of_events on candidates (organization_id, event_key) where event_key is not null;
select tocsin_protect('candidates');

create table withdrawn_events (
  organization_id uuid not null references organizations (id),
  event_id text not null,
  withdrawn_at timestamptz not null,
  primary key (organization_id, event_id)
);
comment on table withdrawn_events is 'Events that stay in the logs although what they reported was withdrawn, such as sightings of a retracted indicator. No candidate of them becomes a hit.';
create index on withdrawn_events (organization_id, withdrawn_at);
select tocsin_protect('withdrawn_events');

create table review_cases (
  organization_id uuid not null,
  id uuid not null,
  detection_id uuid not null,
  kind text not null check (kind in ('undecided', 'audit')),
  suppression_key text,
  entity_key uuid not null,
  state text not null default 'open' check (state in ('open', 'raised', 'dismissed', 'expired', 'outdated')),
  opened_at timestamptz not null,
  expires_at timestamptz not null,
  decided_at timestamptz,
  key_id text,
  actor text,
  reason text,
  hit_id uuid,
  weight double precision not null default 1,
  second_alias text,
  second_verdict text,
  failures int not null default 0,
  retry_at timestamptz not null default now(),
  primary key (organization_id, id),
  foreign key (organization_id, id) references candidates (organization_id, id) on delete cascade,
  foreign key (organization_id, detection_id) references agents (organization_id, id)
);
comment on table review_cases is 'Candidates that are no hit and that somebody must decide: those that the judge left undecided, and dismissals of the audit.';
comment on column review_cases.id is 'ID of the candidate.';
comment on column review_cases.suppression_key is 'Later candidates with the key wait with the case. Null if none does.';
comment on column review_cases.entity_key is 'MD5 of the entity in lower case. A UUID, because row-level security lets only leakproof operators use an index.';
comment on column review_cases.expires_at is 'When an undecided case becomes a hit, and a dismissal leaves the audit.';
comment on column review_cases.key_id is 'API key that decided. Null if the service did, or a session without a key.';
comment on column review_cases.actor is 'Person or key that signed in, if the case was decided with a session.';
comment on column review_cases.weight is 'How many dismissals of its day an audited one stands for.';
comment on column review_cases.second_alias is 'Model alias that judged an audited dismissal again. Null if none has.';
comment on column review_cases.second_verdict is 'JSON of the verdict of that alias.';
comment on column review_cases.failures is 'How often that alias was asked.';
comment on column review_cases.retry_at is 'Earliest time to ask it, by the clock of the database. While it is asked, the end of the lease.';
create index review_cases_open on review_cases (organization_id, detection_id, suppression_key) where state = 'open' and kind = 'undecided';
create index review_cases_listed on review_cases (organization_id, opened_at desc, id desc);
create index review_cases_entity on review_cases (organization_id, entity_key);
create index review_cases_expiring on review_cases (expires_at) where state = 'open';
create index review_cases_audit on review_cases (organization_id, detection_id, opened_at) where kind = 'audit';
create index review_cases_waiting on review_cases (retry_at) where kind = 'audit' and state = 'open' and second_alias is null;
select tocsin_protect('review_cases');

create table dismissal_days (
  organization_id uuid not null,
  detection_id uuid not null,
  day date not null,
  dismissals int not null,
  sampled int not null,
  salt uuid not null,
  primary key (organization_id, detection_id, day),
  foreign key (organization_id, detection_id) references agents (organization_id, id)
);
comment on table dismissal_days is 'Dismissals of a detection by UTC day, and how many of them the audit sampled.';
comment on column dismissal_days.salt is 'Key of the hash that selected them: the sample has the lowest SHA-256 of salt and ID.';
select tocsin_protect('dismissal_days');

create table suppressions (
  organization_id uuid not null,
  detection_id uuid not null,
  key text not null,
  positive boolean not null,
  hit_id uuid,
  facts text not null,
  severity text not null,
  since_at timestamptz not null,
  until_at timestamptz not null,
  primary key (organization_id, detection_id, key, since_at),
  foreign key (organization_id, detection_id) references agents (organization_id, id)
);
comment on table suppressions is 'Verdicts that also apply to other candidates with the same key: from since_at to until_at, and those of a hit to late candidates as long before since_at.';
comment on column suppressions.key is 'SHA-256 of everything that must be equal: prompt version, model, tools, schema, generation, entity and kind.';
comment on column suppressions.positive is 'True if later candidates are added to the hit as occurrences, false if they are dropped.';
comment on column suppressions.facts is 'JSON of the judged facts. A negative verdict does not apply to a candidate with stronger facts.';
select tocsin_protect('suppressions');

-- Hits -------------------------------------------------------------------------------------------------------------------------------

create table hit_groups (
  organization_id uuid not null,
  id uuid not null,
  detection_id uuid not null,
  window_from timestamptz not null,
  window_to timestamptz not null,
  hits int not null default 0,
  revision int not null default 0,
  announced int not null default 0,
  has_changes boolean not null default false,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (organization_id, id),
  unique (organization_id, detection_id, window_from, window_to),
  foreign key (organization_id, detection_id) references agents (organization_id, id)
);
comment on table hit_groups is 'Waves: windows in which one detection raised many hits. People and destinations see them as one.';
comment on column hit_groups.hits is 'Number of hits that joined the group.';
comment on column hit_groups.revision is 'Number of events about the group.';
comment on column hit_groups.announced is 'Number of hits at the latest event about the group. 0 if there was none.';
comment on column hit_groups.has_changes is 'True if later verdicts changed hits since the latest event.';
create index on hit_groups (organization_id, created_at desc, id desc);
create index hit_groups_grown on hit_groups (organization_id, detection_id) where announced > 0 and (announced < hits or has_changes);
select tocsin_protect('hit_groups');

create table hits (
  organization_id uuid not null,
  id uuid not null,
  detection_id uuid not null,
  key text not null,
  entity text not null,
  entity_type text not null,
  kind text not null,
  severity text not null,
  confidence int not null,
  headline text not null,
  summary text not null,
  next_step text not null,
  verdict text not null default 'raise',
  claims text not null default '[]',
  evidence text not null,
  observations text not null default '[]',
  techniques text not null default '[]',
  open_question text,
  rows text not null,
  facts text not null,
  judged boolean not null default true,
  unjudged_reason text,
  group_id uuid,
  model_disagrees text,
  status text not null default 'open',
  superseded boolean not null default false,
  revision int not null default 1,
  changed_revision int not null default 1,
  occurrences int not null default 1,
  window_from timestamptz not null,
  window_to timestamptz not null,
  first_seen_at timestamptz not null,
  last_seen_at timestamptz not null,
  arrived_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (organization_id, id),
  unique (organization_id, detection_id, key),
  foreign key (organization_id, detection_id) references agents (organization_id, id)
);
comment on table hits is 'Hits: findings with a positive verdict.';
comment on column hits.key is 'Hash of detection, entity and kind. The same finding in another window is an occurrence of the same hit.';
comment on column hits.kind is 'Detection category.';
comment on column hits.confidence is 'Confidence in percent.';
comment on column hits.evidence is 'JSON array of the quoted fields of log rows.';
comment on column hits.rows is 'JSON array of the log rows.';
comment on column hits.facts is 'JSON of the facts that the analysis computed.';
comment on column hits.judged is 'False if the model gave no verdict and the hit is based on the facts alone.';
comment on column hits.unjudged_reason is 'Kind of the failure because of which there is no verdict.';
comment on column hits.model_disagrees is 'Reason of a judge that rejected a finding whose facts make it a hit anyway, or dismissed it later. Null otherwise.';
comment on column hits.verdict is 'raise, undecided, or dismiss where the facts overrule the judge.';
comment on column hits.claims is 'JSON array of the sentences of the verdict, with citations and status.';
comment on column hits.observations is 'JSON array of the tool results that the verdict cites.';
comment on column hits.techniques is 'JSON array of the ATT&CK techniques that the judge named.';
comment on column hits.open_question is 'What has to be found out. Null for a verdict that decides the case.';
comment on column hits.status is 'open, true_positive, benign, false_positive or outdated.';
comment on column hits.superseded is 'True if the service marked the hit as outdated because the past changed or the model dismissed it later. If it is found again, its content is replaced. The status that a person set is kept.';
comment on column hits.changed_revision is 'Revision of the last change of its content or status. Later revisions only saw it again.';
comment on column hits.group_id is 'Group of the wave in which the hit was raised. Null if its window has few hits.';
comment on column hits.occurrences is 'Number of windows that contain the finding.';
comment on column hits.window_from is 'Start of the earliest of these windows.';
comment on column hits.arrived_at is 'As in the candidate that became the hit.';
create index on hits (organization_id, created_at desc, id desc);
create index hits_detection on hits (organization_id, detection_id, status);
-- Hits per day of a detection, for series.
create index hits_raised on hits (organization_id, detection_id, created_at);
-- What people must still judge, and how they judged, over all detections.
create index hits_open on hits (organization_id, severity, created_at) where status = 'open';
create index hits_reviewed on hits (organization_id, created_at, status) where status in ('true_positive', 'benign', 'false_positive');
create index hits_window on hits (organization_id, detection_id, window_from);
create index hits_group on hits (organization_id, group_id) where group_id is not null;
select tocsin_protect('hits');

create table hit_values (
  organization_id uuid not null,
  value_key uuid not null,
  hit_id uuid not null,
  primary key (organization_id, value_key, hit_id),
  foreign key (organization_id, hit_id) references hits (organization_id, id) on delete cascade
);
comment on table hit_values is 'Which hits have a value as their entity or in a field of their rows, and which have an entity with a name of a stem.';
comment on column hit_values.value_key is 'MD5 of the value in lower case, or of `entity`, a line break and the stem: what all names have that rules can join. A UUID, because row-level security lets only leakproof operators use an index.';
create index on hit_values (organization_id, hit_id);
select tocsin_protect('hit_values');

create table hit_occurrences (
  organization_id uuid not null,
  hit_id uuid not null,
  run_id uuid not null,
  window_from timestamptz not null,
  seen_at timestamptz not null,
  primary key (organization_id, hit_id, run_id, window_from),
  foreign key (organization_id, hit_id) references hits (organization_id, id)
);
comment on table hit_occurrences is 'Runs and windows in which a hit was found.';
create index on hit_occurrences (organization_id, run_id);
select tocsin_protect('hit_occurrences');

create table hit_changes (
  organization_id uuid not null,
  id uuid not null,
  hit_id uuid not null,
  at timestamptz not null,
  key_id text,
  actor text,
  person_id uuid,
  from_status text not null,
  to_status text not null,
  reason text,
  batch_id uuid,
  revision int,
  primary key (organization_id, id),
  foreign key (organization_id, hit_id) references hits (organization_id, id) on delete cascade,
  foreign key (organization_id, person_id) references persons (organization_id, id)
);
comment on table hit_changes is 'Changes of the status of a hit.';
comment on column hit_changes.batch_id is 'Identifies the changes of a group of hits that were made together. Null for a change of a single hit.';
comment on column hit_changes.revision is 'Revision of the hit after the change.';
comment on column hit_changes.key_id is 'API key that made the change. Null for changes made by the service or a session without a key.';
comment on column hit_changes.actor is 'Person or key that signed in, if the change was made with a session.';
comment on column hit_changes.person_id is 'Person who made the change. Null for a key and the service.';
create index on hit_changes (organization_id, hit_id, at);
select tocsin_protect('hit_changes');

create table hit_comments (
  organization_id uuid not null,
  id uuid not null,
  hit_id uuid not null,
  at timestamptz not null,
  body text not null,
  key_id text,
  actor text,
  person_id uuid,
  agent_id uuid,
  run_id uuid,
  primary key (organization_id, id),
  foreign key (organization_id, hit_id) references hits (organization_id, id) on delete cascade,
  foreign key (organization_id, person_id) references persons (organization_id, id),
  foreign key (organization_id, agent_id) references agents (organization_id, id)
);
comment on table hit_comments is 'Comments of people, in Markdown, and of response agents on hits.';
comment on column hit_comments.key_id is 'API key that wrote the comment. Null for comments of agents or a session without a key.';
comment on column hit_comments.actor is 'Person or key that signed in, if the comment was written with a session.';
comment on column hit_comments.person_id is 'Person who wrote the comment. Null for a key and an agent.';
comment on column hit_comments.agent_id is 'Response agent that wrote the comment in the run run_id.';
create index on hit_comments (organization_id, hit_id, at);
select tocsin_protect('hit_comments');

-- Incidents --------------------------------------------------------------------------------------------------------------------------

create table incidents (
  organization_id uuid not null references organizations (id),
  id uuid not null,
  state text not null default 'open' check (state in ('open', 'in_progress', 'closed')),
  resolution text check (resolution in ('true_positive', 'false_positive', 'benign', 'outdated')),
  severity text not null,
  severity_set boolean not null default false,
  owner text,
  owner_id uuid,
  title text not null,
  touched boolean not null default false,
  merged_into uuid,
  revision int not null default 1,
  close_batch uuid,
  first_at timestamptz not null,
  last_at timestamptz not null,
  due_at timestamptz not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (organization_id, id),
  foreign key (organization_id, owner_id) references persons (organization_id, id),
  check ((state = 'closed') = (resolution is not null))
);
comment on table incidents is 'Hits that belong together, with who works on them and how it ended.';
comment on column incidents.resolution is 'How a closed incident ended. Null for all others.';
comment on column incidents.severity is 'Highest severity of its hits, unless a person set it.';
comment on column incidents.owner is 'Person or key that works on it, as the caller named it.';
comment on column incidents.owner_id is 'The person of this name. Null for a key or any other name.';
comment on column incidents.touched is 'True if a person decided something about it. From then on the service adds hits of a higher severity only, and links the others.';
comment on column incidents.merged_into is 'Incident that has its hits now. Its ID stays valid for that one.';
comment on column incidents.close_batch is 'Identifies the status changes of its hits when it was closed, which can be undone.';
comment on column incidents.first_at is 'When its hits were first seen.';
create index on incidents (organization_id, last_at desc, id desc) where merged_into is null;
create index incidents_open on incidents (organization_id, state) where state <> 'closed' and merged_into is null;
create index incidents_merged on incidents (organization_id, merged_into) where merged_into is not null;
select tocsin_protect('incidents');

create table incident_hits (
  organization_id uuid not null,
  hit_id uuid not null,
  incident_id uuid,
  pinned boolean not null default false,
  entity_key uuid not null,
  seen text not null,
  from_at timestamptz not null,
  to_at timestamptz not null,
  primary key (organization_id, hit_id),
  foreign key (organization_id, hit_id) references hits (organization_id, id) on delete cascade,
  foreign key (organization_id, incident_id) references incidents (organization_id, id)
);
comment on table incident_hits is 'Which incident each hit is in. A hit without company is in none.';
comment on column incident_hits.pinned is 'True if a person decided where the hit is.';
comment on column incident_hits.entity_key is 'Key of its entity, as in hit_connections.';
comment on column incident_hits.seen is 'JSON array of the spans in which the hit was seen, in epoch milliseconds.';
comment on column incident_hits.from_at is 'When the hit was first seen. to_at is when it was seen last.';
create index on incident_hits (organization_id, incident_id) where incident_id is not null;
select tocsin_protect('incident_hits');

create table hit_connections (
  organization_id uuid not null,
  hit_id uuid not null,
  value_key uuid not null,
  kind text not null check (kind in ('entity', 'indicator', 'session', 'process')),
  type text not null,
  value text not null,
  cells text not null,
  others int not null default 0,
  entity_key uuid not null,
  from_at timestamptz not null,
  to_at timestamptz not null,
  primary key (organization_id, hit_id, value_key),
  foreign key (organization_id, hit_id) references incident_hits (organization_id, hit_id) on delete cascade
);
comment on table hit_connections is 'Values by which hits join others: entities in any role, indicators, sessions and processes.';
comment on column hit_connections.value_key is 'Hash of type and value in lower case. A UUID, because row-level security lets only leakproof operators use an index.';
comment on column hit_connections.cells is 'JSON array of the cells that show the value. One without a row is the entity of the hit.';
comment on column hit_connections.others is 'Number of other entities whose hits had the value before, counted up to one more than may have it.';
comment on column hit_connections.from_at is 'When the hit was first seen. to_at is when it was seen last.';
create index hit_connections_value on hit_connections (organization_id, value_key, to_at);
select tocsin_protect('hit_connections');

create table incident_links (
  organization_id uuid not null,
  incident_id uuid not null,
  hit_id uuid not null,
  value_key uuid not null,
  at timestamptz not null,
  primary key (organization_id, incident_id, hit_id),
  foreign key (organization_id, incident_id) references incidents (organization_id, id) on delete cascade,
  foreign key (organization_id, hit_id) references incident_hits (organization_id, hit_id) on delete cascade
);
comment on table incident_links is 'Hits outside of an incident that a person touched, which would be in it otherwise.';
comment on column incident_links.value_key is 'A value that connects them.';
create index on incident_links (organization_id, hit_id);
select tocsin_protect('incident_links');

create table incident_changes (
  organization_id uuid not null,
  id uuid not null,
  incident_id uuid not null,
  at timestamptz not null,
  key_id text,
  actor text,
  person_id uuid,
  action text not null,
  fields text not null,
  revision int not null,
  primary key (organization_id, id),
  foreign key (organization_id, incident_id) references incidents (organization_id, id) on delete cascade,
  foreign key (organization_id, person_id) references persons (organization_id, id)
);
comment on table incident_changes is 'What people and the service did with an incident.';
comment on column incident_changes.key_id is 'API key that made the change. Null for changes made by the service or a session without a key.';
comment on column incident_changes.actor is 'Person or key that signed in, if the change was made with a session.';
comment on column incident_changes.person_id is 'Person who made the change. Null for a key and for the service.';
comment on column incident_changes.fields is 'JSON array of the fields that changed, with their values before and after, and the IDs of persons among these.';
comment on column incident_changes.revision is 'Revision of the incident after the change.';
create index on incident_changes (organization_id, incident_id, at);
select tocsin_protect('incident_changes');

create table incident_comments (
  organization_id uuid not null,
  id uuid not null,
  incident_id uuid not null,
  at timestamptz not null,
  body text not null,
  key_id text,
  actor text,
  person_id uuid,
  primary key (organization_id, id),
  foreign key (organization_id, incident_id) references incidents (organization_id, id) on delete cascade,
  foreign key (organization_id, person_id) references persons (organization_id, id)
);
comment on table incident_comments is 'Comments of people on incidents, in Markdown.';
comment on column incident_comments.key_id is 'API key that wrote the comment. Null for a session without a key.';
comment on column incident_comments.actor is 'Person or key that signed in, if the comment was written with a session.';
comment on column incident_comments.person_id is 'Person who wrote the comment. Null for a key.';
create index on incident_comments (organization_id, incident_id, at);
select tocsin_protect('incident_comments');

create table incident_watchers (
  organization_id uuid not null,
  incident_id uuid not null,
  person_id uuid not null,
  watching boolean not null,
  mentioned_at timestamptz,
  primary key (organization_id, incident_id, person_id),
  foreign key (organization_id, incident_id) references incidents (organization_id, id) on delete cascade,
  foreign key (organization_id, person_id) references persons (organization_id, id)
);
comment on table incident_watchers is 'People who watch an incident, by choice or since a comment mentioned them.';
comment on column incident_watchers.watching is 'False if the person stopped watching.';
comment on column incident_watchers.mentioned_at is 'When a comment last mentioned the person, who has not opened the incident since. Null if there is no unread mention.';
create index on incident_watchers (organization_id, person_id);
select tocsin_protect('incident_watchers');

create table incident_queue (
  organization_id uuid not null,
  hit_id uuid not null,
  primary key (organization_id, hit_id),
  foreign key (organization_id, hit_id) references hits (organization_id, id) on delete cascade
);
comment on table incident_queue is 'Hits that were written and are not yet placed in incidents. Written by the trigger of hits.';
select tocsin_protect('incident_queue');

-- The update locks the row, so that a hit that is placed meanwhile is placed again.
create function tocsin_queue_hits(organization uuid, ids uuid[]) returns void language sql as $$
  insert into incident_queue (organization_id, hit_id) select organization, id from unnest(ids) as id group by id order by id
  on conflict (organization_id, hit_id) do update set hit_id = excluded.hit_id
$$;

-- A trigger, so that no write of a hit can forget it. Placing waits for other hits of the organization, which the transaction of a run must not.
create function tocsin_queue_hit() returns trigger language plpgsql as $$
begin
  perform tocsin_queue_hits(new.organization_id, array[new.id]);
  return null;
end $$;
create trigger queue_new_hit after insert on hits for each row execute function tocsin_queue_hit();
create trigger queue_changed_hit after update on hits for each row
  when ((old.severity, old.status, old.last_seen_at, old.entity) is distinct from (new.severity, new.status, new.last_seen_at, new.entity)
    or old.rows is distinct from new.rows) execute function tocsin_queue_hit();

create table agent_calls (
  organization_id uuid not null,
  id uuid not null,
  agent_id uuid not null,
  run_id uuid not null,
  hit_id uuid,
  tool text not null,
  input text not null,
  input_hash text not null,
  reason text not null default '',
  state text not null default 'waiting' check (state in ('waiting', 'approved', 'done', 'failed', 'declined')),
  result text,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  decided_at timestamptz,
  key_id text,
  actor text,
  primary key (organization_id, id),
  unique (organization_id, run_id, tool, input_hash),
  foreign key (organization_id, agent_id) references agents (organization_id, id),
  foreign key (organization_id, hit_id) references hits (organization_id, id) on delete cascade
);
comment on table agent_calls is 'Calls of response agents that wait for the approval of a person, or got it.';
comment on column agent_calls.input is 'JSON of the arguments. What is approved is this text and no other.';
comment on column agent_calls.input_hash is 'SHA-256 of tool and input.';
comment on column agent_calls.state is 'waiting, declined, approved while it is executed, done or failed. One that waits after expires_at has expired.';
comment on column agent_calls.result is 'What the executed call returned, or why it failed.';
comment on column agent_calls.key_id is 'API key that decided.';
comment on column agent_calls.actor is 'Person or key that signed in, if the call was decided with a session.';
create index on agent_calls (organization_id, created_at desc, id desc);
create index on agent_calls (organization_id, hit_id) where hit_id is not null;
select tocsin_protect('agent_calls');

create table hit_reviews (
  organization_id uuid not null,
  detection_id uuid not null,
  true_positives int not null default 0,
  benign int not null default 0,
  false_positives int not null default 0,
  primary key (organization_id, detection_id),
  foreign key (organization_id, detection_id) references agents (organization_id, id)
);
comment on table hit_reviews is 'Number of hits of a detection by reviewed status, updated with every change of a status.';
select tocsin_protect('hit_reviews');

create table entity_notes (
  organization_id uuid not null references organizations (id),
  id uuid not null,
  entity text not null,
  entity_type text not null,
  note text not null,
  key_id text,
  actor text,
  updated_at timestamptz not null,
  primary key (organization_id, id)
);
comment on table entity_notes is 'What people know of entities: assets and identities. A model receives it with the candidates of the entity.';
comment on column entity_notes.entity_type is 'Empty if the note is on entities of any type with this name.';
comment on column entity_notes.key_id is 'API key that wrote the note.';
comment on column entity_notes.actor is 'Person or key that signed in, if the note was written with a session.';
create unique index entity_notes_entity on entity_notes (organization_id, md5(lower(entity)), entity_type);
create index on entity_notes (organization_id, updated_at desc, id desc);
select tocsin_protect('entity_notes');

create table entity_decisions (
  organization_id uuid not null references organizations (id),
  id uuid not null,
  entity_type text not null,
  entity text not null,
  alias_type text not null,
  alias text not null,
  entity_stem uuid not null,
  alias_stem uuid not null,
  is_joined boolean not null,
  source text not null check (source in ('person', 'log')),
  reason text,
  key_id text,
  actor text,
  at timestamptz not null,
  primary key (organization_id, id)
);
comment on table entity_decisions is 'Names of entities that people joined or separated, and that logs state both. A decision of a person is deleted when a later one takes it back.';
comment on column entity_decisions.entity is 'Canonical name of the entity when the decision was made.';
comment on column entity_decisions.entity_stem is 'MD5 of the stem, as in hit_values. A UUID, because row-level security lets only leakproof operators use an index.';
comment on column entity_decisions.is_joined is 'False if the alias is another entity, whatever rules and lists say.';
comment on column entity_decisions.key_id is 'API key that decided.';
comment on column entity_decisions.actor is 'Person or key that signed in, if the decision was made with a session.';
create index on entity_decisions (organization_id, entity_stem);
create index on entity_decisions (organization_id, alias_stem);
select tocsin_protect('entity_decisions');

-- Hits of names that are joined or separated are placed again, and those of the names that other decisions connect with them.
create function tocsin_queue_named_hits() returns trigger language plpgsql as $$
declare
  decision entity_decisions := coalesce(new, old);
begin
  perform tocsin_queue_hits(decision.organization_id, array(
    with recursive stems (stem) as (
      select unnest(array[decision.entity_stem, decision.alias_stem])
      union select unnest(array[d.entity_stem, d.alias_stem]) from stems s join entity_decisions d
        on d.organization_id = decision.organization_id and s.stem in (d.entity_stem, d.alias_stem)
    )
    select hit_id from hit_values where organization_id = decision.organization_id and value_key in (select stem from stems)));
  return null;
end $$;
create trigger queue_named_hits after insert or delete on entity_decisions for each row execute function tocsin_queue_named_hits();

create table value_lists (
  organization_id uuid not null references organizations (id),
  id uuid not null,
  name text not null,
  description text not null,
  list_columns text not null,
  list_values text not null,
  list_rows text,
  source text,
  source_query text,
  next_check_at timestamptz,
  claimed_until timestamptz,
  checked_at timestamptz,
  failure text,
  key_id text,
  actor text,
  updated_at timestamptz not null,
  primary key (organization_id, id),
  unique (organization_id, name)
);
comment on table value_lists is 'Lists and tables of values that detections share, such as entities that a detection allows.';
comment on column value_lists.list_columns is 'JSON array of the names of the columns.';
comment on column value_lists.list_values is 'JSON array of the texts of the first column: exact values, patterns with `*`, and networks.';
comment on column value_lists.list_rows is 'JSON array with the cells of each row. Null for a list of one column.';
comment on column value_lists.source is 'JSON with where the rows are fetched from and how often, without the query. Null if they were sent.';
comment on column value_lists.source_query is 'The query that finds the rows. Null without one.';
comment on column value_lists.next_check_at is 'When the rows are fetched next. Null without a source.';
comment on column value_lists.claimed_until is 'Until when a process may fetch the rows. Null if none does.';
comment on column value_lists.failure is 'Why the last fetch failed. Null if it did not.';
comment on column value_lists.key_id is 'API key that wrote the list last.';
comment on column value_lists.actor is 'Person or key that signed in, if the list was last written with a session.';
create index on value_lists (next_check_at) where next_check_at is not null;
select tocsin_protect('value_lists');

-- Every hit can have a name that the own domains and the listed aliases join or part.
create function tocsin_queue_listed_hits() returns trigger language plpgsql as $$
declare
  list value_lists := coalesce(new, old);
begin
  if list.name in ('own-domains', 'entity-aliases') then
    perform tocsin_queue_hits(list.organization_id,
      array(select hit_id from incident_hits where organization_id = list.organization_id));
  end if;
  return null;
end $$;
create trigger queue_listed_hits after insert or delete or update of list_values on value_lists
  for each row execute function tocsin_queue_listed_hits();

create table exceptions (
  organization_id uuid not null,
  id uuid not null,
  detection_id uuid not null,
  kind text not null check (kind in ('exception', 'snooze')),
  entity text,
  field text,
  value text,
  list text,
  conditions text not null default '[]',
  reason text not null,
  owner text,
  hit_ids uuid[] not null default '{}',
  key_id text,
  actor text,
  created_at timestamptz not null,
  expires_at timestamptz,
  matches integer not null default 0,
  muted_rows bigint not null default 0,
  last_matched_at timestamptz,
  latest_ids uuid[] not null default '{}',
  announced_at timestamptz,
  primary key (organization_id, id),
  foreign key (organization_id, detection_id) references agents (organization_id, id)
);
comment on table exceptions is 'Exceptions and snoozes of a detection, kept separate from its query.';
comment on column exceptions.kind is 'exception, or snooze: covers one entity or the whole detection and always expires.';
comment on column exceptions.matches is 'Number of candidates that the exception muted.';
comment on column exceptions.muted_rows is 'Number of rows of these candidates.';
comment on column exceptions.latest_ids is 'The candidates that it muted last, latest first.';
comment on column exceptions.announced_at is 'When `exception.ending` was emitted.';
comment on column exceptions.conditions is 'JSON array of further conditions, each with a field and either a value or a value list. Every row must satisfy all of them.';
comment on column exceptions.owner is 'Name of the person who answers for the exception.';
comment on column exceptions.hit_ids is 'Hits because of which the exception exists.';
comment on column exceptions.entity is 'Entity that is excluded. `*` stands for any text, as in the value. Null if a field is matched, or if the whole detection is snoozed.';
comment on column exceptions.field is 'Field whose value is matched.';
comment on column exceptions.list is 'Value list that the value of the field, or else the entity, must be in.';
comment on column exceptions.key_id is 'API key that created the exception.';
comment on column exceptions.actor is 'Person or key that signed in, if the exception was created with a session.';
create index on exceptions (organization_id, detection_id, created_at desc, id desc);
select tocsin_protect('exceptions');

-- An exception can hide what a rehearsal of its detection found.
create function tocsin_queue_muted_rehearsal() returns trigger language plpgsql as $$
declare
  changed exceptions := coalesce(new, old);
begin
  update rehearsed_detections set due_at = '-infinity'
  where organization_id = changed.organization_id and detection_id = changed.detection_id and due_at is not null;
  return null;
end $$;
create trigger queue_muted_rehearsal after insert or delete on exceptions for each row execute function tocsin_queue_muted_rehearsal();

-- Reviews by the judge model ---------------------------------------------------------------------------------------------------------

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
comment on table run_reviews is 'Queue of finished runs whose acceptance criteria still have to be graded (grade), or that a shadow version still has to judge (shadow).';
comment on column run_reviews.due_at is 'The run''s due_at, which selects its partition.';
comment on column run_reviews.day is 'UTC day on which the run finished. See run_days.';
comment on column run_reviews.retry_at is 'Earliest attempt, by the clock of the database.';
comment on column run_reviews.lease_until is 'End of the lease, by the clock of the database.';
create index on run_reviews (retry_at);
select tocsin_protect('run_reviews');

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
comment on table shadow_verdicts is 'Verdicts of the shadow version compared with those of the detection.';
comment on column shadow_verdicts.differs is 'Parts in which the verdicts differ: triggered, severity, confidence, evidence.';
comment on column shadow_verdicts.compared is 'JSON of both verdicts.';
create index on shadow_verdicts (organization_id, detection_id, at desc);
select tocsin_protect('shadow_verdicts');

create table incident_findings (
  organization_id uuid not null,
  id uuid not null,
  incident_id uuid not null,
  at timestamptz not null,
  hunt_id uuid not null,
  hunt_name text not null,
  finding_key text not null,
  query text not null,
  dataset text,
  row_id text not null,
  entity text,
  fields text not null,
  added_at timestamptz not null,
  key_id text,
  actor text,
  primary key (organization_id, id),
  unique (organization_id, incident_id, finding_key),
  foreign key (organization_id, incident_id) references incidents (organization_id, id) on delete cascade
);
comment on table incident_findings is 'Rows that a hunt found and a person added to an incident. Copies, which outlive the hunt and its runs.';
comment on column incident_findings.at is 'Time of the row, else when it was added.';
comment on column incident_findings.hunt_id is 'The hunt, which may be deleted.';
comment on column incident_findings.finding_key is 'Identifies the row among the runs of all hunts.';
comment on column incident_findings.query is 'The query that returned the row.';
comment on column incident_findings.fields is 'JSON object of the cells of the row as text.';
comment on column incident_findings.key_id is 'API key that added the row. Null for a session without a key.';
comment on column incident_findings.actor is 'Person or key that signed in, if the row was added with a session.';
create index on incident_findings (organization_id, finding_key);
select tocsin_protect('incident_findings');

create table hunts (
  organization_id uuid not null references organizations (id),
  id uuid not null,
  name text not null,
  kind text not null,
  question text not null,
  words text,
  row_meaning text,
  connection_id uuid,
  span_days int,
  from_at timestamptz,
  to_at timestamptz,
  cadence text,
  next_run_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (organization_id, id),
  unique (organization_id, name),
  check ((span_days is null) = (from_at is not null and to_at is not null))
);
comment on table hunts is 'Saved questions over a span of the past.';
comment on column hunts.kind is 'sql, indicators or technique.';
comment on column hunts.question is 'The query, one indicator per line, or the ID of an ATT&CK technique.';
comment on column hunts.words is 'What the query is to find, in plain words. Null if nobody said it.';
comment on column hunts.row_meaning is 'What a row of the query means, in one sentence. Null if nobody said it.';
comment on column hunts.connection_id is 'Connection to search. Null for the embedded store, and for techniques.';
comment on column hunts.span_days is 'The days before a run. Null if from_at and to_at are set.';
comment on column hunts.cadence is 'daily or weekly. Null: runs when a person asks.';
create index on hunts (next_run_at);
select tocsin_protect('hunts');

create table hunt_runs (
  organization_id uuid not null,
  id uuid not null,
  hunt_id uuid not null,
  state text not null,
  is_scheduled boolean not null,
  question text not null,
  from_at timestamptz not null,
  to_at timestamptz not null,
  attempts int not null default 0,
  lease_until timestamptz,
  previous_run_id uuid,
  findings int not null default 0,
  new_findings int not null default 0,
  gone_findings int not null default 0,
  is_complete boolean not null default true,
  queries text not null default '[]',
  queries_sent int not null default 0,
  warnings text not null default '[]',
  failure text,
  ms int,
  created_at timestamptz not null,
  finished_at timestamptz,
  primary key (organization_id, id),
  foreign key (organization_id, hunt_id) references hunts (organization_id, id) on delete cascade
);
comment on table hunt_runs is 'Runs of hunts.';
comment on column hunt_runs.state is 'queued, running, completed or failed.';
comment on column hunt_runs.question is 'JSON of kind, question and connection as they were.';
comment on column hunt_runs.lease_until is 'Until when a process works on the run. Another one repeats it afterwards.';
comment on column hunt_runs.previous_run_id is 'The run of the same question with which this one is compared. Null for the first one.';
comment on column hunt_runs.gone_findings is 'Findings of the previous run that this one does not have, although its span does.';
comment on column hunt_runs.is_complete is 'False if the run reached a limit or a query failed.';
comment on column hunt_runs.queries is 'JSON array of the queries that returned findings.';
comment on column hunt_runs.warnings is 'JSON array of sentences.';
create index on hunt_runs (organization_id, hunt_id, created_at);
create index on hunt_runs (created_at) where state in ('queued', 'running');
create unique index on hunt_runs (organization_id, hunt_id) where state in ('queued', 'running');
select tocsin_protect('hunt_runs');

create table hunt_findings (
  organization_id uuid not null,
  id uuid not null,
  run_id uuid not null,
  finding_key text not null,
  is_new boolean not null,
  at timestamptz,
  dataset text,
  row_id text not null,
  entity text,
  detail text,
  fields text not null,
  query_index int not null,
  primary key (organization_id, id),
  unique (organization_id, run_id, finding_key),
  foreign key (organization_id, run_id) references hunt_runs (organization_id, id) on delete cascade
);
comment on table hunt_findings is 'Rows that runs of hunts found.';
comment on column hunt_findings.finding_key is 'Identifies the same row in other runs: hash of its dataset and ID, or for groups of its values without numbers and times.';
comment on column hunt_findings.is_new is 'Whether the previous run does not have it.';
comment on column hunt_findings.detail is 'The indicator or detection that matched. Null for queries.';
comment on column hunt_findings.fields is 'JSON object of the cells of the row as text.';
comment on column hunt_findings.query_index is 'Place of its query in queries of the run.';
select tocsin_protect('hunt_findings');
