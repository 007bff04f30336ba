-- What an organization says of an item's severity and indicators reaches its exports as its retraction does: each word that they can
-- show is kept with its time, so that every version of an object that was ever given can be given again.
alter table feed_marks
  drop constraint feed_marks_pkey,
  add primary key (organization_id, item_id, at),
  add column severity text,
  add column status text,
  add column indicators text;

create or replace function tocsin_mark_override() returns trigger language plpgsql as $$
declare
  org uuid := coalesce(new.organization_id, old.organization_id);
  item uuid := coalesce(new.item_id, old.item_id);
begin
  if (new.severity, new.status, new.indicators) is distinct from (old.severity, old.status, old.indicators) then
    insert into feed_marks (organization_id, item_id, at, seq, severity, status, indicators)
    select org, item,
      date_trunc('milliseconds', greatest(new.updated_at, clock_timestamp(), i.last_updated + interval '1 ms', (
        select max(m.at) + interval '1 ms' from feed_marks m where m.organization_id = org and m.item_id = item))),
      coalesce((select p.seq + 1 from feed_pools p where p.kind = 'private' and p.organization_id = org), 0),
      new.severity, new.status, new.indicators
    from items i where i.id = item;
  end if;
  return null;
end $$;

set local role tocsin_system;
update feed_marks m set status = o.status from feed_overrides o
where o.organization_id = m.organization_id and o.item_id = m.item_id;
-- What was said before this is told anew, since objects say more of it now.
insert into feed_marks (organization_id, item_id, at, seq, severity, status, indicators)
select o.organization_id, o.item_id,
  date_trunc('milliseconds', greatest(o.updated_at, clock_timestamp(), i.last_updated + interval '1 ms', m.at + interval '1 ms')),
  p.seq + 1, o.severity, o.status, o.indicators
from feed_overrides o join items i on i.id = o.item_id
  join feed_pools p on p.kind = 'private' and p.organization_id = o.organization_id
  left join feed_marks m on m.organization_id = o.organization_id and m.item_id = o.item_id
where o.severity is not null or o.status is not null or o.indicators is not null;
update feed_pools p set seq = seq + 1
where exists (select from feed_marks m where m.organization_id = p.organization_id and m.seq > p.seq) and p.kind = 'private';
reset role;
