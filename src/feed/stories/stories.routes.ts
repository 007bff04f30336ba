import { z } from 'zod';
import type { App } from '../../platform/http/app-type.ts';
import { apiRoutes } from '../../platform/http/api-routes.ts';
import { uuidPattern } from '../../platform/lib/org-id.ts';
import { getStory, listStories, type StoriesDeps } from './list-stories.ts';
import { StoriesQuery, Story, StoryList } from './stories.schema.ts';

const ItemPath = z.object({ id: z.string().regex(uuidPattern, 'must be a UUID') });

export function storyRoutes(app: App, deps: StoriesDeps): void {
  const route = apiRoutes(app, { tag: 'feed', scope: 'feed:read' });
  route(
    'GET /api/feed/stories',
    {
      operationId: 'listFeedStories',
      summary: 'List the feed by story: reports of several sources about one event are one entry',
      description:
        'With the filters of `GET /items`, of which one item of a story must meet all. The story with the newest such item comes first.',
      query: StoriesQuery,
      returns: StoryList,
    },
    ({ caller, query }) => listStories(deps, caller, query),
  );
  route(
    'GET /api/feed/items/:id/story',
    {
      operationId: 'getFeedItemStory',
      summary: 'Get the story of a feed item: its time line, sources and the reasons that join them',
      description: 'A story is a view. It changes neither the items nor what is a duplicate of what.',
      params: ItemPath,
      returns: Story,
    },
    ({ caller, params }) => getStory(deps, caller, params.id.toLowerCase()),
  );
}
