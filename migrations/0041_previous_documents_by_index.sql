-- Looks the previous versions up by index. During the first pulls the planner does not know how many rows the tables have, and from a join of old
-- and new rows it expects one row whatever the number of changed items: it would read all versions, or compare every old row with every new one.
create or replace function tocsin_keep_states() returns trigger language plpgsql set enable_seqscan = off as $$
declare
  changed uuid[];
begin
  execute 'select array(select n.id from old_items o join new_items n on n.id = o.id where n.version > o.version)' into changed;
  execute 'update item_versions v set doc = o.doc from old_items o
    where v.item_id = any($1) and o.id = v.item_id and o.version = v.version and v.doc is null' using changed;
  execute $states$
    insert into item_states (organization_id, item_id, pool_id, seq_from, seq_until, severity, status, publisher, source_name, platforms,
      duplicate_of, title, publish_time, doc, next_expiry_at, added_to_feed_at, last_updated, terms, words)
    select o.organization_id, o.id, o.pool_id, o.seq, n.seq, o.severity, o.status, o.publisher, o.source_name, o.platforms,
      o.duplicate_of, o.title, o.publish_time, o.doc, o.next_expiry_at, o.added_to_feed_at, o.last_updated,
      array(select t.kind || ' ' || t.value from item_terms t where t.item_id = o.id),
      (select s.words from item_search s where s.item_id = o.id)
    from old_items o join new_items n on n.id = o.id
    where n.seq > o.seq $states$;
  return null;
end $$;
