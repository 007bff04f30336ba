-- An item that was posted has no source; of one text an organization has one item, also when two requests race.
create unique index one_item_of_a_posted_text on items (organization_id, record_id, generation) where source_id is null;
