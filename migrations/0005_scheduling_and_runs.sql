-- The time line of each detection (schedules, windows, coverage, gaps), its runs, the run queue, and what the analysis remembers.
--
-- Slot time is the clock of the scheduler. Leases and retries use the clock of the database instead.

-- Time line --------------------------------------------------------------------------------------------------------------------------

-- Narrow and updated often, so separate from the definition in agents.
create table schedules (
  organization_id uuid not null,
  detection_id uuid not null,
  cron text,
  active boolean not null,
  next_slot_at timestamptz,
  coverage_from timestamptz not null,
  boundary_at timestamptz not null,
  lookback_minutes int,
  delay_ms int not null default 0,
  connection_id uuid,
  memory_epoch int not null default 0,
  author_failures int not null default 0,
  primary key (organization_id, detection_id),
  foreign key (organization_id, detection_id) references agents (organization_id, id)
);
comment on table schedules is 'Schedule of each detection that has ever had one. Covered, pending and gap time cover [coverage_from, boundary_at) without overlap.';
comment on column schedules.cron is 'Normalized cron expression. With a time zone, it begins with CRON_TZ=. Null if the detection has no schedule any more.';
comment on column schedules.next_slot_at is 'Next slot. Null while inactive.';
comment on column schedules.coverage_from is 'Start of the first window.';
comment on column schedules.boundary_at is 'End of the last planned window.';
comment on column schedules.delay_ms is 'Time between the end of a window and its slot.';
comment on column schedules.connection_id is 'Connection that the runs query. Null for the embedded store, or if the connection does not exist.';
comment on column schedules.memory_epoch is 'Incremented whenever the memory of a past window changes. A window that was analyzed under an older epoch is analyzed again before it is stored.';
comment on column schedules.author_failures is 'Consecutive slots that failed because of the query. At three, the detection is disabled.';
create index schedules_due on schedules (next_slot_at) where active;
select tocsin_protect('schedules');

create table pending_windows (
  organization_id uuid not null,
  detection_id uuid not null,
  window_from timestamptz not null,
  window_to timestamptz not null,
  slot_at timestamptz not null,
  failure text,
  primary key (organization_id, detection_id, window_from),
  check (window_from < window_to)
);
comment on table pending_windows is 'Windows that are planned but not yet examined. Without a foreign key, as run_queue: the statement that writes a row moves the boundary of its schedule.';
comment on column pending_windows.failure is 'Kind of the last failure that prevented the examination.';
create index pending_windows_failed on pending_windows (organization_id, detection_id) where failure is not null;
select tocsin_protect('pending_windows');

create table coverage (
  organization_id uuid not null,
  detection_id uuid not null,
  covered_from timestamptz not null,
  covered_to timestamptz not null,
  primary key (organization_id, detection_id, covered_from),
  check (covered_from < covered_to),
  foreign key (organization_id, detection_id) references schedules (organization_id, detection_id)
);
comment on table coverage is 'Examined time. Adjacent windows are merged into one row.';
select tocsin_protect('coverage');

create table gaps (
  organization_id uuid not null,
  id uuid not null,
  detection_id uuid not null,
  gap_from timestamptz not null,
  gap_to timestamptz not null,
  reason text not null,
  state text not null default 'open',
  detail text,
  filled_to timestamptz,
  run_id uuid,
  fill_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (organization_id, id),
  check (gap_from < gap_to),
  foreign key (organization_id, detection_id) references schedules (organization_id, detection_id)
);
comment on table gaps is 'Time that was not examined, with the reason.';
comment on column gaps.state is 'open, filling, filled or expired (its logs are no longer retained).';
comment on column gaps.filled_to is 'Progress of the backfill.';
comment on column gaps.run_id is 'Run that fills the gap.';
comment on column gaps.fill_at is 'When a backfill that nobody requested fills the gap, in slot time.';
create index on gaps (organization_id, detection_id, gap_from);
create index gaps_open on gaps (organization_id, detection_id, gap_from) where state = 'open';
create index gaps_filling on gaps (organization_id, detection_id, gap_from) where state = 'filling';
create index gaps_fill_at on gaps (fill_at) where state = 'open' and fill_at is not null;
select tocsin_protect('gaps');

create table revisits (
  organization_id uuid not null,
  detection_id uuid not null,
  run_id uuid not null,
  window_from timestamptz not null,
  window_to timestamptz not null,
  primary key (organization_id, detection_id, run_id, window_from),
  foreign key (organization_id, detection_id) references schedules (organization_id, detection_id)
);
comment on table revisits is 'Examined windows that a backfill must analyze again, because the memory of earlier windows changed.';
select tocsin_protect('revisits');

create table rechecks (
  organization_id uuid not null,
  detection_id uuid not null,
  window_from timestamptz not null,
  window_to timestamptz not null,
  generation text not null,
  due_at timestamptz not null,
  tries int not null default 0,
  primary key (organization_id, detection_id, window_from),
  foreign key (organization_id, detection_id) references schedules (organization_id, detection_id)
);
comment on table rechecks is 'Windows examined on event time that are examined a second time, after late rows have arrived.';
comment on column rechecks.generation is 'Generation of the memory under which the window was examined.';
comment on column rechecks.due_at is 'When the second examination is due, in slot time.';
create index on rechecks (due_at);
select tocsin_protect('rechecks');

-- Runs -------------------------------------------------------------------------------------------------------------------------------

create table runs (
  organization_id uuid not null,
  id uuid not null,
  detection_id uuid not null,
  due_at timestamptz not null,
  trigger text not null,
  key_id text,
  actor text,
  custom_instructions text,
  event text,
  incident_id uuid,
  status text not null,
  status_reason text,
  attempt int not null default 0,

  -- Windows
  slot_at timestamptz,
  window_from timestamptz,
  window_to timestamptz,
  on_event_time boolean not null default false,
  windows text not null default '[]',

  -- Definition and model
  revision int,
  prompt_version int,
  model_alias text,
  model text,
  query text,

  -- Progress
  started_at timestamptz,
  finished_at timestamptz,
  lag_ms bigint,
  elapsed_ms bigint not null default 0,
  phases text not null default '[]',
  judging text not null default '{}',

  -- Result
  rows_total bigint not null default 0,
  truncated boolean not null default false,
  entities text not null default '[]',
  triggered boolean not null default false,
  hit_count int not null default 0,
  suppressed text not null default '{}',
  score numeric(4, 1),
  score_basis text,
  score_criteria text not null default '[]',
  acceptance text not null default '[]',
  calls int not null default 0,
  tokens int not null default 0,
  cost_usd numeric(14, 6) default 0,
  warnings text not null default '[]',
  failure text,
  primary key (due_at, id),
  foreign key (organization_id, detection_id) references agents (organization_id, id)
) partition by range (due_at);
comment on table runs is 'Runs of detections and response agents. A slot has exactly one run. Partitioned by month.';
comment on column runs.due_at is 'When the run is due, in slot time. The slot of a scheduled run.';
comment on column runs.trigger is 'schedule, manual, backfill or continuous. response or request for a run of a response agent.';
comment on column runs.key_id is 'API key that requested the run. Null for scheduled runs.';
comment on column runs.actor is 'Person or key that signed in, if the run was requested with a session.';
comment on column runs.event is 'JSON of what the run was started with: its inputs and, for a response agent, the trigger and the hit. Null if with nothing.';
comment on column runs.incident_id is 'Incident that a response agent looks into as a whole, and whose story it writes.';
comment on column runs.status is 'queued, running, completed, failed or cancelled.';
comment on column runs.status_reason is 'Reason for the cancellation, for example superseded.';
comment on column runs.attempt is 'Number of the latest attempt. Each claim from the queue starts one.';
comment on column runs.on_event_time is 'True if the windows are on the time of the event, false if on the time of ingestion.';
comment on column runs.windows is 'JSON array of the examined windows.';
comment on column runs.revision is 'Revision of the definition that the run uses.';
comment on column runs.model is 'Model behind the alias at the time of the run.';
comment on column runs.lag_ms is 'Delay between due_at and the first attempt.';
comment on column runs.elapsed_ms is 'Time spent up to the latest step, over all attempts.';
comment on column runs.phases is 'JSON array of the phases with their durations.';
comment on column runs.judging is 'JSON of the counters that the score is computed from.';
comment on column runs.entities is 'JSON array of the entities with their verdicts.';
comment on column runs.suppressed is 'JSON of the candidates that were suppressed, counted by cause.';
comment on column runs.score_basis is 'analyst, checked or judge. Null without a score.';
comment on column runs.score_criteria is 'JSON array of the criteria with their points.';
comment on column runs.acceptance is 'JSON array of the acceptance criteria with their grades. Empty until the run is graded.';
comment on column runs.cost_usd is 'Null once a model without a price answered.';
comment on column runs.warnings is 'JSON array of {code, detail}.';
comment on column runs.failure is 'JSON {kind, blame, retryable, message}. Null if the run did not fail.';
create unique index one_run_per_slot on runs (organization_id, detection_id, due_at) where trigger = 'schedule';
create index on runs (organization_id, detection_id, due_at desc, id desc);
create index on runs (organization_id, incident_id, due_at desc) where incident_id is not null;
create table runs_default partition of runs default;
select tocsin_protect('runs');
select tocsin_partition_months('runs', (current_date - interval '1 month')::date, 4);

create table run_steps (
  organization_id uuid not null,
  run_id uuid not null,
  attempt int not null,
  n int not null,
  at timestamptz not null,
  body text not null,
  primary key (at, run_id, attempt, n)
) partition by range (at);
comment on table run_steps is 'Steps of the agent in a run: plans, model calls and tool calls. Partitioned by month.';
comment on column run_steps.n is 'Position of the step within its attempt.';
comment on column run_steps.body is 'JSON of the step.';
create table run_steps_default partition of run_steps default;
select tocsin_protect('run_steps');
select tocsin_partition_months('run_steps', current_date, 3);

create table run_days (
  organization_id uuid not null,
  detection_id uuid not null,
  day date not null,
  score_basis text not null default '',
  runs int not null default 0,
  triggered int not null default 0,
  score_sum numeric(14, 1) not null default 0,
  scores int not null default 0,
  primary key (organization_id, detection_id, day, score_basis),
  foreign key (organization_id, detection_id) references agents (organization_id, id)
);
comment on table run_days is 'Daily totals of runs, from which the 30-day figures are computed.';
comment on column run_days.day is 'UTC day on which the runs finished.';
comment on column run_days.score_basis is 'Basis of the scores. Empty for runs without a score.';
comment on column run_days.scores is 'Number of runs with a score; score_sum / scores is the average.';
create index on run_days (organization_id, day);
select tocsin_protect('run_days');

create table run_facts (
  organization_id uuid not null,
  detection_id uuid not null,
  last_run_at timestamptz not null,
  score_basis text,
  primary key (organization_id, detection_id),
  foreign key (organization_id, detection_id) references agents (organization_id, id)
);
comment on table run_facts is 'Start of the latest run of a detection or built-in agent, and the basis of its score.';
select tocsin_protect('run_facts');

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
  cost_usd numeric(16, 8) default 0,
  outcome text not null default '{}',
  failure text,
  item_ids text[] not null default '{}',
  primary key (organization_id, id),
  foreign key (organization_id, agent_id) references agents (organization_id, id)
);
comment on table agent_runs is 'Runs of the built-in agents.';
comment on column agent_runs.slot_at is 'Slot of the run. Null for the first run after the schedule was set.';
comment on column agent_runs.outcome is 'JSON of the results.';
comment on column agent_runs.failure is 'JSON of the failure. Null if the run did not fail.';
comment on column agent_runs.item_ids is 'Feed items that the run processed.';
create index on agent_runs (organization_id, agent_id, started_at desc, id desc);
select tocsin_protect('agent_runs');

-- Queue ------------------------------------------------------------------------------------------------------------------------------

-- Contains only queued and running runs, so that a claim never scans finished ones. One table for both queues: a run waits in one of them, its
-- cancellation and its lease do not depend on which, and it moves from one to the other in the transaction that stores its last window.
create table run_queue (
  organization_id uuid not null,
  run_id uuid not null primary key,
  detection_id uuid not null,
  kind text not null,
  model_alias text not null default '',
  phase text not null generated always as (case model_alias when '' then 'examine' else 'judge' end) stored,
  due_at timestamptz not null,
  start_at timestamptz not null,
  retry_at timestamptz,
  connection_id uuid,
  failure text,
  state text not null default 'queued',
  begun boolean not null default false,
  attempt int not null default 0,
  lost int not null default 0,
  retries int not null default 0,
  lease_until timestamptz,
  worker text,
  cancel_requested boolean not null default false
);
comment on table run_queue is 'Queued and running runs. A row is deleted when its run ends. Without a foreign key, because each row is written with its run, which has one, and the check of it would be a fifth of what queueing costs.';
comment on column run_queue.kind is 'schedule, manual, backfill or continuous. For a response agent, response if a trigger started the run, and request if a person did.';
comment on column run_queue.model_alias is 'Model alias that judges the candidates of the run. Empty while its windows are examined.';
comment on column run_queue.phase is 'The queue: examine or judge.';
comment on column run_queue.start_at is 'Earliest start, in slot time.';
comment on column run_queue.retry_at is 'Earliest claim after a failure or since the run waits to be judged, by the clock of the database.';
comment on column run_queue.connection_id is 'Connection that the run queries, so that a claim can skip paused or busy connections. See schedules.connection_id. Null in the phase judge.';
comment on column run_queue.failure is 'JSON of the failure that ended the examination. The run ends with it once its candidates are judged.';
comment on column run_queue.state is 'queued or running.';
comment on column run_queue.begun is 'True once claimed. A newer slot then no longer supersedes the run.';
comment on column run_queue.attempt is 'Number of claims. Together with worker it fences the writes of a worker that lost its lease.';
comment on column run_queue.lost is 'Number of times that a worker lost the run in its phase.';
comment on column run_queue.retries is 'Number of retries in its phase.';
comment on column run_queue.lease_until is 'End of the lease, by the clock of the database.';
comment on column run_queue.worker is 'Id of the claim.';
create index run_queue_claim on run_queue (organization_id, kind, model_alias, start_at, run_id) where state = 'queued';
-- Runs of one slot are spread over up to an hour, so most queued runs may not start yet. A claim finds the lanes of those that may.
create index run_queue_due on run_queue (phase, start_at, organization_id, kind, model_alias) where state = 'queued';
create index run_queue_running on run_queue (organization_id, kind, model_alias, worker) where state = 'running';
create index run_queue_leases on run_queue (lease_until) where state = 'running';
create index run_queue_connections on run_queue (organization_id, connection_id) where state = 'running' and connection_id is not null;
create index run_queue_aliases on run_queue (model_alias, organization_id) where state = 'running' and phase = 'judge';
create index on run_queue (organization_id, detection_id);
-- Runs of a response agent have nothing to do with each other, so that it may have any number of them.
create unique index one_running_of_each_kind on run_queue (organization_id, detection_id, phase, kind) where state = 'running' and kind not in ('response', 'request');
create unique index one_queued_of_each_kind on run_queue (organization_id, detection_id, kind) where state = 'queued' and not begun and kind not in ('response', 'request');
select tocsin_protect('run_queue');

create table lanes (
  organization_id uuid not null references organizations (id),
  kind text not null,
  model_alias text not null default '',
  judges boolean not null generated always as (model_alias <> '') stored,
  cap int not null default 8,
  served_at timestamptz not null default 'epoch',
  primary key (organization_id, kind, model_alias)
);
comment on table lanes is 'Fair sharing of the two queues: the lane served longest ago is served next. To examine, one lane per organization and kind of run. To judge, one per organization, kind of run and model alias.';
comment on column lanes.model_alias is 'Model alias that judges the runs. Empty for those to examine.';
comment on column lanes.judges is 'The queue: false to examine, true to judge. The planner estimates that many lanes have either, and so reads them in order.';
comment on column lanes.cap is 'Maximum number of concurrent runs in the lane. To judge, the limit of the alias applies as well.';
create index on lanes (judges, served_at);
select tocsin_protect('lanes');

-- Continuous matching ----------------------------------------------------------------------------------------------------------------

create table match_positions (
  organization_id uuid not null references organizations (id),
  dataset text not null,
  reader text not null check (reader in ('detections', 'indicators')),
  matched_to timestamptz not null,
  lease_until timestamptz,
  worker uuid,
  served_at timestamptz not null default 'epoch',
  primary key (organization_id, dataset, reader)
);
comment on table match_positions is 'How far the events of a dataset have been matched when they arrived.';
comment on column match_positions.reader is 'What they are matched with: continuous detections, or indicators of the feed.';
comment on column match_positions.matched_to is 'End of the matched events by `_ingested`, exclusive.';
comment on column match_positions.lease_until is 'End of the lease of a matcher, by the clock of the database. Null if none has it.';
comment on column match_positions.worker is 'ID of the claim. It fences the writes of a matcher that lost its lease.';
comment on column match_positions.served_at is 'When an organization was served last: the one served longest ago is next.';
select tocsin_protect('match_positions');

create table continuous_detections (
  organization_id uuid not null,
  detection_id uuid not null,
  revision int not null,
  dataset text,
  obstacle text,
  expensive boolean not null default false,
  matched_from timestamptz,
  paused_at timestamptz,
  minute_at timestamptz,
  minute_events int not null default 0,
  events bigint not null default 0,
  missed bigint not null default 0,
  matched_at timestamptz,
  latency_ms bigint,
  primary key (organization_id, detection_id),
  foreign key (organization_id, detection_id) references agents (organization_id, id)
);
comment on table continuous_detections is 'What the matcher knows of detections that are to be matched when events arrive.';
comment on column continuous_detections.revision is 'Revision of the definition that the row is about.';
comment on column continuous_detections.dataset is 'Dataset that the query reads. Null with an obstacle.';
comment on column continuous_detections.obstacle is 'Why the detection only runs at its slots. Null: it is matched.';
comment on column continuous_detections.expensive is 'True if no text is known that an event must have to match, so that the condition is evaluated for every event.';
comment on column continuous_detections.matched_from is 'Events that arrived from this time on were matched with this revision.';
comment on column continuous_detections.paused_at is 'When it matched more events than the limit and went back to its slots. Null: it did not.';
comment on column continuous_detections.minute_at is 'Minute of slot time in which it matched last.';
comment on column continuous_detections.minute_events is 'Events that it matched in that minute.';
comment on column continuous_detections.events is 'Events that it has matched.';
comment on column continuous_detections.missed is 'Events that a slot found although they had been matched before, at the same revision, without being found.';
comment on column continuous_detections.latency_ms is 'Time from the arrival of the first event of the latest matched batch to the stored candidates.';
select tocsin_protect('continuous_detections');

create table matched_windows (
  organization_id uuid not null,
  detection_id uuid not null,
  window_from timestamptz not null,
  window_to timestamptz not null,
  arrived_at timestamptz not null,
  events int not null,
  primary key (organization_id, detection_id, window_from),
  check (window_from < window_to),
  foreign key (organization_id, detection_id) references agents (organization_id, id)
);
comment on table matched_windows is 'Windows by `_ingested` in which events match a continuous detection, until its next continuous run has examined them.';
comment on column matched_windows.arrived_at is 'Arrival of the first event of the window, whether or not it matches.';
select tocsin_protect('matched_windows');

-- Memory of the analysis -------------------------------------------------------------------------------------------------------------

create table memory (
  organization_id uuid not null,
  detection_id uuid not null,
  generation text not null,
  key text not null,
  window_from timestamptz not null,
  entity text collate "C" not null,
  number double precision,
  value text,
  primary key (organization_id, detection_id, generation, key, entity, window_from),
  foreign key (organization_id, detection_id) references agents (organization_id, id)
);
comment on table memory is 'Values that the analysis stores for each window, such as the count of an entity, to compare later windows with.';
comment on column memory.generation is 'SHA-256 of everything that makes windows comparable (query, category, fields, connection, cadence). A change starts a new memory.';
comment on column memory.key is 'Name of the value. Its meaning depends on the category.';
comment on column memory.value is 'JSON.';
create index on memory (organization_id, detection_id, generation, entity, window_from);
select tocsin_protect('memory');

create table memory_windows (
  organization_id uuid not null,
  detection_id uuid not null,
  generation text not null,
  window_from timestamptz not null,
  window_to timestamptz not null,
  examined boolean not null default true,
  primary key (organization_id, detection_id, generation, window_from),
  foreign key (organization_id, detection_id) references agents (organization_id, id)
);
comment on table memory_windows is 'Windows that the memory of a generation contains.';
comment on column memory_windows.examined is 'False for windows before the first one, which were only read to fill the memory.';
select tocsin_protect('memory_windows');

create table memory_fills (
  organization_id uuid not null,
  detection_id uuid not null,
  generation text not null,
  filled_at timestamptz not null,
  primary key (organization_id, detection_id, generation),
  foreign key (organization_id, detection_id) references agents (organization_id, id)
);
comment on table memory_fills is 'Generations whose memory has been filled from the windows before their first one.';
select tocsin_protect('memory_fills');
