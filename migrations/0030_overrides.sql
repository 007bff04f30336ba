-- More that an organization says of an item for itself. `seq` is the sequence number of its own pool from which a row holds.
alter table feed_overrides
  drop constraint feed_overrides_status_check,
  add constraint feed_overrides_status_check check (status in ('active', 'corrected', 'retracted')),
  add column severity text check (severity in ('none', 'low', 'medium', 'high', 'critical')),
  add column indicators text,
  add column tags text[],
  add column relevance text check (relevance in ('relevant', 'irrelevant')),
  -- `person`, or the agent that judged; a person's word stands against it.
  add column relevance_by text check (relevance_by in ('person', 'threat-relevancy')),
  add column relevance_reasons text,
  add column relevance_at timestamptz,
  -- When an indicator of the item was first seen in the organization's own logs.
  add column exposed_at timestamptz,
  add column seq bigint not null default 0;
create index on feed_overrides (organization_id, seq);

-- What a row was before each change of the last hours, for readers under `asOf`, as `item_states` is for items.
create table feed_override_states (like feed_overrides);
alter table feed_override_states
  add column seq_until bigint not null,
  add column kept_at timestamptz not null default clock_timestamp(),
  add primary key (organization_id, item_id, seq);
create index on feed_override_states (organization_id, seq_until);
create index on feed_override_states (kept_at);
select tocsin_protect('feed_override_states');

-- Whoever writes holds the organization's pool and moves it afterwards. What says the same as before is not written, and a row that says
-- nothing any more stays, so that `updatedSince` tells of it.
create function tocsin_stamp_override() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and new is not distinct from old then return null; end if;
  new.seq := (select p.seq + 1 from feed_pools p where p.organization_id = new.organization_id and p.kind = 'private');
  return new;
end $$;
create trigger stamp_override before insert or update on feed_overrides for each row execute function tocsin_stamp_override();

create function tocsin_keep_override() returns trigger language plpgsql as $$
begin
  insert into feed_override_states select old.*, new.seq, clock_timestamp();
  return null;
end $$;
create trigger keep_override after update on feed_overrides for each row when (new.seq > old.seq) execute function tocsin_keep_override();
