-- The terms of items that a person retracted keep the statuses from before, so a look-up of a frequent value reads these items.
create index items_held_back on items (id) where held_back is not null;
