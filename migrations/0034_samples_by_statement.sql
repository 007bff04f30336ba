-- The sample of a statement's rows is copied at once. To plan and run an insert for each row took a fifth of writing new items.
drop trigger keep_sample on item_search;
create or replace function tocsin_keep_sample() returns trigger language plpgsql as $$
begin
  insert into item_search_sample as known (organization_id, item_id, pool_id, words)
  select organization_id, item_id, pool_id, words from written where uuid_hash(item_id) & 15 = 0
  on conflict (item_id) do update set words = excluded.words where known.words is distinct from excluded.words;
  return null;
end $$;
comment on function tocsin_keep_sample() is 'Copies the sample among the rows of item_search that a statement wrote to item_search_sample.';
create trigger keep_sample_of_new after insert on item_search referencing new table as written for each statement execute function tocsin_keep_sample();
create trigger keep_sample_of_changed after update on item_search referencing new table as written for each statement execute function tocsin_keep_sample();
