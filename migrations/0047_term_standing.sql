-- How an item's own word on an indicator stands, so that a look-up weighs all items that name it and reads the newest only. `standing`
-- null: it holds until `ends_at`, or without end.
alter table item_terms
  add column standing text check (standing in ('false_positive', 'revoked')),
  add column ends_at timestamptz;

-- A time of a source that is none has no end, as when it is read.
create function tocsin_instant(given text) returns timestamptz language plpgsql as $$
begin
  return given::timestamptz;
exception when others then
  return null;
end $$;

set local role tocsin_system;
update item_terms t set standing = own.standing, ends_at = own.ends_at
from (
  select found.id, found.value,
    case when bool_or(found.status = 'false_positive') then 'false_positive' when bool_and(found.status = 'revoked') then 'revoked' end as standing,
    case when bool_and(found.status in ('false_positive', 'revoked') or found.ends_at is not null)
      then max(found.ends_at) filter (where found.status not in ('false_positive', 'revoked')) end as ends_at
  from (
    select i.id, one ->> 'status' as status,
      case when length(one ->> 'normalizedValue') <= 500 then one ->> 'normalizedValue'
        else 'sha256:' || encode(sha256(convert_to(one ->> 'normalizedValue', 'UTF8')), 'hex') end as value,
      tocsin_instant(coalesce(one ->> 'lastSeen', i.doc::json #>> '{source,publishTime}', i.doc::json ->> 'addedToFeedAt'))
        + make_interval(hours => 24 * (one ->> 'ttlDays')::int) as ends_at
    from items i cross join lateral json_each(i.doc::json -> 'iocs') bucket cross join lateral json_array_elements(bucket.value) one
  ) found
  group by found.id, found.value
) own
where t.item_id = own.id and t.kind = 'indicator' and t.value = own.value;
reset role;
drop function tocsin_instant(text);
