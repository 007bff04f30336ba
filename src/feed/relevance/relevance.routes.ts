import { requireCaller, type App } from '../../platform/http/app-type.ts';
import { Profile, StoredProfile } from './profile.schema.ts';
import { getProfile, putProfile, type PutProfileDeps } from './profile.ts';

export function relevanceRoutes(app: App, deps: PutProfileDeps): void {
  app.route({
    method: 'GET',
    url: '/api/feed/profile',
    config: { scope: 'feed:read' },
    schema: { tags: ['feed'], summary: "Get the organization's relevance profile", response: { 200: StoredProfile } },
    handler: (request) => getProfile(deps, requireCaller(request)),
  });
  app.route({
    method: 'PUT',
    url: '/api/feed/profile',
    config: { scope: 'feed:write' },
    schema: {
      tags: ['feed'],
      summary: "Replace the organization's relevance profile",
      body: Profile,
      response: { 200: StoredProfile },
    },
    handler: (request) => putProfile(deps, requireCaller(request), request.body),
  });
}
