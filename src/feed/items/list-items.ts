import type { Deps } from '../../app/deps.ts';
import { inOrg, type Db, type Tx } from '../../platform/db/db.ts';
import type { Caller } from '../../platform/orgs/caller.ts';
import { settleDocument } from '../model/expiry.ts';
import type { ItemFilters } from './item-filters.ts';
import { marksOf } from './snapshot/page-cursors.ts';
import { getPage } from './snapshot/pages.ts';
import type { Page } from './snapshot/page-cache.ts';
import { overrideDocuments } from './overrides/override-documents.ts';
import { readItemsQuery, type ItemsQuery, type ItemsRequest } from './items-query.ts';
import type { FeedList } from '../model/item.schema.ts';
import { readItemsPage, type PageRows } from './snapshot/page.store.ts';
import { findAnswering, relevantIds, type Answering } from './snapshot/relevance.sql.ts';
import { readFoundPage } from './search/search.store.ts';
import { listSourceNames } from './items.store.ts';
import { toView, type View } from './snapshot/snapshot.ts';

/** A page of the feed as the bytes of its answer. The documents go from the database into it unparsed. */
export async function listItems(deps: Deps, caller: Caller, query: ItemsQuery): Promise<Page> {
  const { asOf, ...request } = readItemsQuery(query);
  const offset = Math.min((request.page - 1) * request.perPage, Number.MAX_SAFE_INTEGER - 1_000);
  return getPage(deps, caller, { name: `items ${JSON.stringify(request)}`, asOf }, (moment, token) =>
    inOrg(deps.db, caller.orgId, async (tx) => {
      // An unknown platform is on no item, so there is nothing to look through.
      const view = request.platform === null ? toView([]) : moment.view;
      const answering = await findAnswering(tx, moment.view);
      const found = await readPage(deps.db, tx, { view, request, offset, answering });
      const docs = found.docs.map(({ doc, nextExpiryAt }) =>
        nextExpiryAt && nextExpiryAt.getTime() <= moment.hour ? settleDocument(doc, moment.hour) : doc,
      );
      const shown = await overrideDocuments(tx, docs, answering);
      return Buffer.from(
        `{"items":[${shown.join(',')}],${restOf(request, { total: found.total, asOf: token, answering })}`,
      );
    }),
  );
}

/** What was asked for, whenever that was. */
type Asked = Omit<ItemsRequest, 'asOf'>;

type Reading = { view: View; request: Asked; offset: number; answering: Answering };

async function readPage(db: Db, tx: Tx, { view, request, offset, answering }: Reading): Promise<PageRows> {
  const { severity, status, platform, source, search, perPage: limit } = request;
  const filters: ItemFilters = {
    ...(severity ? { severity } : {}),
    ...(status ? { status } : {}),
    ...(answering.own === undefined ? {} : { own: answering.own }),
    ...(platform ? { platform } : {}),
    ...(source === undefined ? {} : { sources: await matchSources(tx, source, view) }),
  };
  const only = request.relevancyMode === 'relevant' ? relevantIds(answering) : undefined;
  const { terms, rootTerms, words, updatedSince, rootsOnly } = search;
  if (only || terms.length > 0 || rootTerms.length > 0 || words || updatedSince)
    return readFoundPage(tx, view, { filters, search, only, limit, offset });
  const marks = marksOf(db);
  const markOf = (place: number): string => JSON.stringify([view.tag, filters, rootsOnly, place]);
  const found = await readItemsPage(tx, view, {
    filters: { ...filters, rootsOnly },
    limit,
    offset,
    after: marks.get(markOf(offset)),
  });
  if (found.end) marks.put(markOf(offset + found.docs.length), found.end);
  return found;
}

/** Case is compared here and not by the database, whose rules depend on the locale that it was made with. */
async function matchSources(tx: Tx, source: string, view: View): Promise<{ publishers: string[]; names: string[] }> {
  const fold = (text: string): string => text.normalize('NFC').toLowerCase();
  const wanted = fold(source);
  const found = await listSourceNames(tx, view);
  const distinct = (texts: string[]): string[] => [...new Set(texts.filter((text) => fold(text) === wanted))];
  return {
    publishers: distinct(found.map(({ publisher }) => publisher)),
    names: distinct(found.map(({ source_name }) => source_name)),
  };
}

/** The whole feed in the formats of others. */
const links = {
  stix: '/api/feed/export/stix',
  misp: '/api/feed/export/misp/manifest.json',
  rss: '/api/feed/export/rss',
};

/** The fields of the answer that follow its items, up to the closing brace. */
function restOf(
  request: Asked,
  { total, asOf, answering }: { total: number; asOf: string | undefined; answering: Answering },
): string {
  const rest: Omit<FeedList, 'items'> = {
    total,
    page: request.page,
    perPage: request.perPage,
    hasNext: request.page * request.perPage < total,
    validations: {
      filters: { applied: request.applied, unknown: request.unknown },
      warnings: warningsOf(request, answering),
      profile: answering.profile,
    },
    outputs: { ...(asOf ? { asOf } : {}), sort: '-addedToFeedAt,-id', links },
  };
  return JSON.stringify(rest).slice(1);
}

type Warning = NonNullable<FeedList['validations']>['warnings'][number];

function warningsOf(request: Asked, answering: Answering): Warning[] {
  return [
    ...(request.platform === null
      ? [
          {
            code: 'unknown_platform',
            message: `${request.applied['platform']} is no platform that items name.`,
            param: 'platform',
          },
        ]
      : []),
    ...(request.relevancyMode === 'relevant' ? relevanceWarnings(answering) : []),
  ];
}

function relevanceWarnings({ profile, rebuilding, version }: Answering): Warning[] {
  const warning = (code: string, message: string): Warning => ({ code, message, param: 'relevancyMode' });
  if (rebuilding)
    return [warning('relevance_rebuilding', 'The profile was changed: what follows is relevant to the one before.')];
  return profile === 'none' || version === undefined
    ? [warning('no_profile', 'No profile is set: relevant lists what all does.')]
    : [];
}
