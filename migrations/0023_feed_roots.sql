-- Counts of the roots among the items, so that totals of lists without duplicates need not count the duplicates.
alter table feed_counts add column roots int not null default 0;
comment on column feed_counts.roots is 'How many of the n items are not duplicates.';

set local role tocsin_system;
update feed_counts set roots = n;
update feed_counts c set roots = c.n - d.n
from (
  select pool_id, severity, status, publisher, source_name, sorted.platforms, count(*) as n
  from items cross join lateral (
    select coalesce(string_agg(p, ',' order by p collate "C"), '') as platforms from unnest(items.platforms) p) sorted
  where duplicate_of is not null group by pool_id, severity, status, publisher, source_name, sorted.platforms) d
where (d.pool_id, d.severity, d.status, d.publisher, d.source_name, d.platforms)
  = (c.pool_id, c.severity, c.status, c.publisher, c.source_name, c.platforms);
reset role;
