import { sql } from 'kysely';
import type { Deps } from '../../app/deps.ts';
import { inOrg, rows } from '../../platform/db/db.ts';
import { fullHour, settleIndicators } from '../model/expiry.ts';
import { orderedRows, withColumns } from '../items/snapshot/snapshot-rows.sql.ts';
import { findAnswering, isRelevant } from '../items/snapshot/relevance.sql.ts';
import type { FeedItem } from '../model/item.schema.ts';
import { tlps } from '../model/vocabulary.ts';
import { viewOf, type View } from '../items/snapshot/snapshot.ts';
import { fieldError } from '../../platform/lib/errors.ts';
import { markText, readMark, type Mark } from '../../platform/lib/page-request.ts';
import type { Caller } from '../../platform/orgs/caller.ts';
import { asWorded, listOwnWords, type OwnWord } from './own-overrides.ts';
import type { ExportQuery } from './exports-query.ts';

const pageMaxChars = 64_000_000;

/** Items of one page of an export, and what the next one begins behind. */
export type ExportPage = { items: FeedItem[]; next: string | undefined };

/** What an export is of: the view, the full hour, and the place; equal moments make equal bytes. */
export async function exportMoment({ db, clock }: Deps, caller: Caller): Promise<{ view: View; hour: number }> {
  return { view: await viewOf(db, caller.orgId), hour: fullHour(clock()) };
}

/**
 * Items as the organization sees them, in the order of the list, as many as asked for. A page may hold fewer, since what is marked stricter
 * than asked for, or not relevant, is left out; the last one has no `next`.
 */
export function readExportPage(
  { db }: Deps,
  caller: Caller,
  { view, hour, query, tlpMax }: { view: View; hour: number; query: ExportQuery; tlpMax: FeedItem['source']['tlp'] },
): Promise<ExportPage> {
  const after = query.after === undefined ? undefined : afterMark(query.after);
  const limit = Number(query.limit);
  return inOrg(db, caller.orgId, async (tx) => {
    const answering = await findAnswering(tx, view);
    const belongs = query.relevancyMode === 'relevant' ? isRelevant(answering) : undefined;
    const relevant = belongs ? belongs(sql`listed.id`) : sql`true`;
    const listed = withColumns(sql`listed`, ['doc']);
    const found = await rows(
      tx,
      sql<{ id: string; at: Date; doc: string; belongs: boolean; listed: number }>`
        with listed as (${orderedRows(view, {}, { limit: sql`${limit + 1}`, after })})
        select * from (
          select page.id, page.added_to_feed_at as at, page.doc, ${relevant} as belongs, count(*) over () as listed,
            row_number() over newest as place, sum(length(page.doc)) over newest as chars
          from (${listed}) page join listed on listed.id = page.id window newest as (order by page.added_to_feed_at desc, page.id desc)
        ) placed where place = 1 or (place <= ${limit} and chars <= ${pageMaxChars}) order by place`,
    );
    const words = await listOwnWords(
      tx,
      found.map(({ id }) => id),
    );
    const items = found
      .filter(({ belongs }) => belongs)
      .map(({ id, doc }) => asSeen(JSON.parse(doc) as FeedItem, hour, words.get(id)?.at(-1)))
      .filter(({ source }) => tlps.indexOf(source.tlp) <= tlps.indexOf(tlpMax));
    const last = found.at(-1);
    return { items, next: last && last.listed > found.length ? markText({ at: last.at, id: last.id }) : undefined };
  });
}

/** With the indicators as they stand at the hour, and then as the organization says. */
function asSeen(item: FeedItem, hour: number, word: OwnWord | undefined): FeedItem {
  settleIndicators(item, hour);
  return asWorded(item, word);
}

function afterMark(text: string): Mark {
  const mark = readMark(text);
  if (!mark) throw fieldError('query/after', 'unknown_after', 'after is not one that an export gave.');
  return mark;
}
