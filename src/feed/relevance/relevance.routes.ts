import type { Deps } from '../../app/deps.ts';
import { callerOf, type App } from '../../platform/http/app-type.ts';
import { Profile, StoredProfile } from './profile.schema.ts';
import { getProfile, putProfile } from './profile.ts';

export function relevanceRoutes(app: App, deps: Deps): void {
  app.route({
    method: 'GET',
    url: '/api/feed/profile',
    config: { scope: 'feed:read' },
    schema: { tags: ['feed'], summary: 'What the organization cares about', response: { 200: StoredProfile } },
    handler: (request) => getProfile(deps, callerOf(request)),
  });
  app.route({
    method: 'PUT',
    url: '/api/feed/profile',
    config: { scope: 'feed:write' },
    schema: {
      tags: ['feed'],
      summary: 'Say what the organization cares about',
      body: Profile,
      response: { 200: StoredProfile },
    },
    handler: (request) => putProfile(deps, callerOf(request), request.body),
  });
}
