-- Runs of Chinese, Japanese, Korean, Thai and similar text are indexed as pairs of characters, so that every part of them is found. APT-28 and
-- APT28 match each other.

create or replace function tocsin_text_query(text text) returns tsquery language sql immutable parallel safe as $$
  select case when regexp_replace(text, '"[^\x01-\x1f!-\x7f]+"', '', 'g') ~ '"' or words ~ '!' or numnode(words::tsquery) not between 1 and 15 then stems::tsquery else (
    select string_agg(case
      when part !~ '^''[[:alnum:]]*[[:alpha:]][[:alnum:]]*''$' then part
      when previous ~ '<' or next ~ '<' then case when word ~ '^[[:alpha:]]+$' then quote_literal(stem) else part end
      when length(word) = 1 and word ~ '[^\x01-\x7f]' then part || ':*'
      when length(word) < 4 then case when word ~ '^[[:alpha:]]+$' then quote_literal(stem) else part end
      when stem = word then part || ':*'
      else '(' || quote_literal(stem) || '|' || part || ':*)' end, '' order by place)::tsquery
    from (
        select part_list[1] as part, place, lag(part_list[1]) over (order by place) as previous, lead(part_list[1]) over (order by place) as next
        from regexp_matches(
          regexp_replace(words, '(?<!<-> )''(apt|dev|fin|storm|ta|temp|uac|uat|unc)(?:'' (?:&|<->) ''-?)?(\d+)''(?! <->)',
            '(''\1\2'' | ''\1'' <-> ''\2'' | ''\1'' <-> ''-\2'')', 'g'),
          '''(?:[^'']|'''')*''|[^'']+', 'g') with ordinality parts (part_list, place)) parts
      cross join lateral (select trim(both '''' from part) as word) parsed
      cross join lateral (select coalesce((ts_lexize('tocsin_stem', word))[1], word) as stem) stemmed) end
  from (
    -- The parts of a compound are indexed one after another behind it, so they alone match it in all its spellings.
    select regexp_replace(websearch_to_tsquery('tocsin_text', text)::text, compound, '', 'g') as stems,
      regexp_replace(websearch_to_tsquery('simple', text)::text, compound, '', 'g') as words
    from (select '(?<!<-> )''[[:alpha:]]+(?:-[[:alpha:]]+)+'' <-> ' as compound) patterns) query
$$;
comment on function tocsin_text_query(text) is
  'Returns the full-text query of a search text. Without quotation marks and exclusions (!), and up to eight words, a word of at least four letters and digits also matches longer words that begin with it, unless it is part of a compound (<). A compound such as zero-day also matches its words without a hyphen, and APT28, APT 28 and APT-28 match each other. Quotation marks around pairs of characters of a script without spaces do not count, and a single character of it matches the pairs that begin with it.';

-- Words beside typographic quotation marks, dashes and symbols are indexed without them, and such runs are split. The next re-analysis does so
-- for these items, as a pull does.
set local role tocsin_system;
update items set reading = 0 where id in (select item_id from item_search where words::text ~ '[^\x01-\x7f]');
reset role;
