-- Changes that somebody must see before deciding about a hit, apart from those that only count another window.
alter table hits add changed_revision int not null default 1;
comment on column hits.changed_revision is 'Revision of the last change of its content or status. Later revisions only saw it again.';
alter table hit_changes add revision int;
comment on column hit_changes.revision is 'Revision of the hit after the change. Null for changes before this column existed.';
