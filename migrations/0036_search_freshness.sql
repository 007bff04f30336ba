-- Titles of years ago rank before recent texts that mention a word in passing: the rank is divided by the cube root of the age, and many mentions
-- in a long text count less.
create or replace function tocsin_search_score(words tsvector, query tsquery, at timestamptz, now timestamptz) returns float8 language sql stable parallel safe as $$
  select ln(greatest(ts_rank('{0.03, 0.1, 0.4, 1}', words, query, 1), 1e-6)) - ln(1 + greatest(extract(epoch from now - at), 0)::float8 / (30 * 24 * 3600)) / 3
$$;
comment on function tocsin_search_score(tsvector, tsquery, timestamptz, timestamptz) is
  'Returns the score of an item in a search by relevance and freshness: its rank divided by the cube root of its age, 30 days older than it is.';
