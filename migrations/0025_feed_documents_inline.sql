-- To compress the documents of structured records, most of which have two to four kilobytes, was a fifth of inserting an item. Larger documents
-- are still compressed and stored out of line.
alter table items set (toast_tuple_target = 4080);
