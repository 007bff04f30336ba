import { inOrg, type Db } from '../../platform/db/db.ts';
import { appError } from '../../platform/lib/errors.ts';
import { encodeCursor, readPageRequest, type PageCursor } from '../../platform/lib/page-request.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { listExportRows } from '../exports/exports.store.ts';
import { filteredSnapshot, hasSearch, isFiltered, readFilters, toItemFilters } from '../items/feed-filters.ts';
import { isRelevant } from '../items/list-query/relevant-items.store.ts';
import { withSearchLimits } from '../items/search/search.store.ts';
import { readOrgState } from '../items/snapshot/org-state.store.ts';
import type { SnapshotCache } from '../items/snapshot/snapshot.ts';
import { findStories } from './find-stories.ts';
import type { StoriesQuery, Story, StoryList } from './stories.schema.ts';
import { listMatchingIds } from './stories.store.ts';

export type StoriesDeps = { db: Db; clock: Clock; snapshots: SnapshotCache };

/** Items of stories that a page has already are skipped. A page reads at most so many batches to be full. */
const batchesMax = 5;

/** Returns the story of an item, which may be the item alone. Throws `not_found` if the organization does not see the item or it is retracted. */
export async function getStory({ db }: Pick<StoriesDeps, 'db'>, { orgId }: Caller, itemId: string): Promise<Story> {
  const found = await inOrg(db, orgId, (tx) => findStories(tx, [itemId]));
  const story = found.get(itemId);
  if (!story) throw appError('not_found', `Item ${itemId} not found, or it is retracted`);
  return story;
}

/**
 * Returns a page of stories, those with the newest matching item first. A story is listed once, at its newest item that matches the filters.
 */
export async function listStories(
  { db, clock, snapshots }: StoriesDeps,
  { orgId }: Caller,
  { limit: limitText, cursor, ...query }: StoriesQuery,
): Promise<StoryList> {
  const { limit, after } = readPageRequest({ limit: limitText, cursor });
  const filters = readFilters(query);
  const snapshot = filteredSnapshot(filters, await snapshots.get(orgId));
  return inOrg(db, orgId, (tx) =>
    withSearchLimits(tx, async () => {
      const orgState = await readOrgState(tx, snapshot);
      const itemFilters = await toItemFilters(tx, filters, { snapshot, orgState, now: clock() });
      const { search } = filters;
      const isMember = filters.relevancyMode === 'relevant' ? isRelevant(orgState, filters.requirement) : undefined;
      const listMatching =
        isFiltered(filters) || isMember
          ? (ids: string[]) => listMatchingIds(tx, snapshot, { filters: itemFilters, search, isMember, ids })
          : (ids: string[]) => Promise.resolve(ids);
      const stories: Story[] = [];
      let last: PageCursor | undefined = after ?? undefined;
      for (let batch = 0; batch < batchesMax; batch += 1) {
        const range = hasSearch(search)
          ? { filters: itemFilters, search }
          : { filters: { ...itemFilters, rootsOnly: search.rootsOnly }, search: undefined };
        const rows = await listExportRows(tx, snapshot, { ...range, limit, after: last, isMember });
        const found = await findStories(
          tx,
          rows.map(({ id }) => id),
        );
        const newest = await findNewest([...new Set(found.values())], listMatching);
        for (const { id, at } of rows) {
          if (stories.length === limit) return { stories, nextCursor: encodeCursor(last!) };
          const story = found.get(id);
          if (story && newest.get(story) === id) stories.push(story);
          last = { at, id };
        }
        if (rows.length === 0 || rows.at(-1)!.listed <= rows.length) return { stories, nextCursor: null };
      }
      return { stories, nextCursor: encodeCursor(last!) };
    }),
  );
}

/** Returns the item at which each story is listed: the newest one that matches. */
async function findNewest(
  stories: readonly Story[],
  listMatching: (ids: string[]) => Promise<string[]>,
): Promise<Map<Story, string | undefined>> {
  const matching = new Set(await listMatching(stories.flatMap(({ items }) => items.map(({ id }) => id))));
  return new Map(
    stories.map((story) => {
      const [newest] = story.items
        .filter(({ id }) => matching.has(id))
        .toSorted(
          (a, b) =>
            (a.addedToFeedAt === b.addedToFeedAt ? 0 : a.addedToFeedAt < b.addedToFeedAt ? 1 : -1) ||
            (a.id < b.id ? 1 : -1),
        );
      return [story, newest?.id];
    }),
  );
}
