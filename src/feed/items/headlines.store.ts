import { sql } from 'kysely';
import { queryRows, type Tx } from '../../platform/db/db.ts';
import type { Sql } from './snapshot/query.sql.ts';
import { toTsquery } from './search/search-conditions.sql.ts';
import { typographic } from './search-terms/characters.ts';
import type { FullTextQuery } from './search-terms/search-query.ts';

/** Delimiters in headlines: characters for private use, which are removed from the texts. */
export const marks = { start: '\u{E000}', stop: '\u{E001}', next: '\u{E002}' };

export type HighlightedText = {
  id: string;
  version: number;
  title: string;
  summary: string;
  names: string;
  indicators: string;
};

/**
 * Texts with `marks` around the words that match. Null if the search has no word that must occur. `passage` is the part of the text around the first
 * of the query's runs.
 */
export type Headlines = { id: string } & Record<
  'title' | 'summary' | 'text' | 'passage' | 'names' | 'indicators',
  string | null
>;

/** Characters of a passage, and those of them before the run. */
export const passageChars = { all: 120, before: 30 };

const textMaxChars = 100_000;
const pageMaxChars = 2_000_000;

/** Returns excerpts of the texts of items, of title, names and indicators everything, with the words marked that a search finds. */
export function readHeadlines(tx: Tx, items: HighlightedText[], query: FullTextQuery): Promise<Headlines[]> {
  const column = <K extends keyof HighlightedText>(name: K): HighlightedText[K][] => items.map((item) => item[name]);
  const maxChars = Math.min(textMaxChars, Math.floor(pageMaxChars / Math.max(items.length, 1)));
  const headline = (text: Sql, options: string): Sql =>
    sql`ts_headline('tocsin_text', translate(${text}, ${typographic.from + Object.values(marks).join('')}, ${typographic.to}), q.words, ${`StartSel="${marks.start}", StopSel="${marks.stop}", FragmentDelimiter="${marks.next}", ${options}`})`;
  return queryRows<Headlines>(tx)`
    select p.id, ${headline(sql`p.title`, 'HighlightAll=true')} as title,
      ${headline(sql`p.summary`, 'MaxFragments=1, MaxWords=30, MinWords=15')} as summary,
      ${headline(sql`left(v.stored_text, ${maxChars}::int)`, 'MaxFragments=2, MaxWords=30, MinWords=15')} as text,
      ${passageOf(query)} as passage,
      ${headline(sql`p.names`, 'HighlightAll=true')} as names,
      ${headline(sql`p.indicators`, 'HighlightAll=true')} as indicators
    from unnest(${column('id')}::uuid[], ${column('version')}::int[], ${column('title')}::text[], ${column('summary')}::text[],
      ${column('names')}::text[], ${column('indicators')}::text[]) as p (id, version, title, summary, names, indicators)
    left join item_versions v on v.item_id = p.id and v.version = p.version
    cross join (${anyWordOf(query)}) q`;
}

const passageOf = ({ runs }: FullTextQuery): Sql =>
  runs.length === 0
    ? sql`null`
    : sql`(
        select substr(v.stored_text, greatest(place - ${passageChars.before}::int, 1), ${passageChars.all})
        from unnest(${runs}::text[]) run cross join lateral strpos(v.stored_text, run) place where place > 0 order by place limit 1)`;

/** A query that matches each word of a search separately, without the excluded ones: an excerpt rarely contains all words. */
const anyWordOf = (query: FullTextQuery): Sql => sql`
  select case when words in ('', 'T') then null else replace(words, ' & ', ' | ')::tsquery end as words
  from (select querytree(${toTsquery(query)}) as words) tree`;
