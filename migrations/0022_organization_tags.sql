alter table organizations add column tags text[] not null default '{}';
comment on column organizations.tags is 'Tags that the operator chose, sorted. Detection packs select organizations by them.';
