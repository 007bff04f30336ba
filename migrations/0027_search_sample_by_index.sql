-- Of a search that only excludes words, such as -phishing, the planner expects so many matches that it would read the words of all items to find
-- those of a sample.
alter function tocsin_sample_words(uuid[], tsquery, int) set enable_seqscan to off;
