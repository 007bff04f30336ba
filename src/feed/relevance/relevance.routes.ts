import type { App } from '../../platform/http/app-type.ts';
import { apiRoutes } from '../../platform/http/api-routes.ts';
import { Profile, StoredProfile } from './profile.schema.ts';
import { getProfile, putProfile, type PutProfileDeps } from './profile.ts';

export function relevanceRoutes(app: App, deps: PutProfileDeps): void {
  const route = apiRoutes(app, { tag: 'feed', scope: 'feed:read' });
  route(
    'GET /api/feed/profile',
    {
      operationId: 'getProfile',
      summary: "Get the organization's relevance profile",
      returns: StoredProfile,
      hasEtag: true,
    },
    ({ caller }) => getProfile(deps, caller),
  );
  route(
    'PUT /api/feed/profile',
    {
      operationId: 'setProfile',
      summary: "Replace the organization's relevance profile",
      scope: 'feed:write',
      body: Profile,
      returns: StoredProfile,
      hasEtag: true,
      acceptsIfMatch: true,
    },
    ({ caller, body, ifMatch }) => putProfile(deps, caller, body, ifMatch),
  );
}
