-- Budgets of a detection or a built-in agent that go before those of its alias; JSON, null: none.
alter table agents add column budgets text;

-- Time of a run up to its latest step, over all attempts.
alter table runs add column elapsed_ms bigint not null default 0;

-- What steps under way may yet use up, so that runs side by side do not all spend the last of a budget. One step a run at a time;
-- `until_at`, by the database's clock: a worker that is gone holds nothing back for longer.
create table model_reservations (
  organization_id uuid not null,
  run_id uuid not null,
  detection_id uuid not null,
  alias text not null,
  tokens bigint not null,
  cost_usd numeric(16, 8) not null,
  until_at timestamptz not null,
  primary key (organization_id, run_id)
);
create index on model_reservations (organization_id, alias);
select tocsin_protect('model_reservations');

-- The alias that a queued run's detection names, so that a claim passes by a model that has no free place. Null: the built-in analyst.
alter table run_queue add column model_alias text;
create function tocsin_queue_model() returns trigger language plpgsql as $$
begin
  select nullif(a.model_alias, 'analyst') into new.model_alias
  from agents a where a.organization_id = new.organization_id and a.id = new.detection_id;
  return new;
end $$;
create trigger queue_model before insert on run_queue for each row execute function tocsin_queue_model();
