import type { App } from '../../platform/http/app-type.ts';
import { apiRoutes } from '../../platform/http/api-routes.ts';
import { getEntities } from './list-entities.ts';
import { getHit, getHitEvidence, getHits, withLink, getHitGroup, getHitGroups } from './read-hits.ts';
import {
  EntityFilter,
  EntityList,
  HitComment,
  HitCommentList,
  HitDetail,
  NewHitComment,
  HitEvidence,
  HitFilter,
  HitList,
  HitPath,
  HitVerdict,
  HitGroup,
  HitGroupChange,
  HitGroupFilter,
  HitGroupList,
  HitGroupPath,
  UndoGroupChange,
} from './hits.schema.ts';
import { PageQuery } from '../../platform/lib/page-request.ts';
import { addComment, getComments } from './hit-comments.ts';
import { setHitStatus, type SetHitStatusDeps, setGroupStatus, undoGroupStatus } from './set-status.ts';

type HitRoutesDeps = SetHitStatusDeps & { config: { publicUrl: string | null } };

export function hitRoutes(app: App, deps: HitRoutesDeps): void {
  const { publicUrl } = deps.config;
  const route = apiRoutes(app, { tag: 'hits', scope: 'hits:read' });
  route(
    'GET /api/hits',
    { operationId: 'listHits', summary: 'List hits, newest first', query: HitFilter, returns: HitList },
    async ({ caller, query }) => {
      const { hits, nextCursor } = await getHits(deps, caller, query);
      return { hits: hits.map((hit) => withLink(hit, publicUrl)), nextCursor };
    },
  );
  route(
    'GET /api/entities',
    {
      operationId: 'listEntities',
      summary: 'List the entities of hits, last seen first',
      description: 'Names that rules, lists and people join are one entity. Reads the 50,000 names seen last.',
      query: EntityFilter,
      returns: EntityList,
    },
    ({ caller, query }) => getEntities(deps, caller, query),
  );
  route(
    'POST /api/hits/:id/status',
    {
      operationId: 'setHitStatus',
      summary: 'Set the status of a hit',
      scope: 'hits:write',
      params: HitPath,
      body: HitVerdict,
      returns: HitDetail,
    },
    async ({ caller, params, body }) => withLink(await setHitStatus(deps, caller, params.id, body), publicUrl),
  );
  route(
    'GET /api/hits/:id',
    { operationId: 'getHit', summary: 'Get a hit with its rows and occurrences', params: HitPath, returns: HitDetail },
    async ({ caller, params }) => withLink(await getHit(deps, caller, params.id), publicUrl),
  );
  route(
    'GET /api/hits/:id/evidence',
    {
      operationId: 'getHitEvidence',
      summary: 'Get the queries and rows that the verdict on a hit cites',
      params: HitPath,
      returns: HitEvidence,
    },
    ({ caller, params }) => getHitEvidence(deps, caller, params.id),
  );
  commentRoutes(app, deps);
}

function commentRoutes(app: App, deps: SetHitStatusDeps): void {
  const route = apiRoutes(app, { tag: 'hits', scope: 'hits:read' });
  route(
    'GET /api/hits/:id/comments',
    {
      operationId: 'listHitComments',
      summary: 'List the comments of people and response agents on a hit, newest first',
      params: HitPath,
      query: PageQuery,
      returns: HitCommentList,
    },
    ({ caller, params, query }) => getComments(deps, caller, params.id, query),
  );
  route(
    'POST /api/hits/:id/comments',
    {
      operationId: 'addHitComment',
      summary: 'Comment on a hit',
      scope: 'hits:write',
      params: HitPath,
      body: NewHitComment,
      returns: HitComment,
    },
    ({ caller, params, body }) => addComment(deps, caller, params.id, body),
  );
  hitGroupRoutes(app, deps);
}

function hitGroupRoutes(app: App, deps: Parameters<typeof setGroupStatus>[0]): void {
  const route = apiRoutes(app, { tag: 'hits', scope: 'hits:read' });
  route(
    'GET /api/hit-groups',
    {
      operationId: 'listHitGroups',
      summary: 'List the groups of hits that one detection raised in one window, newest first',
      query: HitGroupFilter,
      returns: HitGroupList,
    },
    ({ caller, query }) => getHitGroups(deps, caller, query),
  );
  route(
    'GET /api/hit-groups/:id',
    { operationId: 'getHitGroup', summary: 'Get a group of hits', params: HitGroupPath, returns: HitGroup },
    ({ caller, params }) => getHitGroup(deps, caller, params.id),
  );
  route(
    'POST /api/hit-groups/:id/status',
    {
      operationId: 'setHitGroupStatus',
      summary: 'Set the status of every hit of a group',
      scope: 'hits:write',
      params: HitGroupPath,
      body: HitVerdict,
      returns: HitGroupChange,
    },
    ({ caller, params, body }) => setGroupStatus(deps, caller, params.id, body),
  );
  route(
    'POST /api/hit-groups/:id/undo',
    {
      operationId: 'undoHitGroupStatus',
      summary: 'Undo a change of the status of a group',
      description: 'Hits that changed again afterwards keep their status.',
      scope: 'hits:write',
      params: HitGroupPath,
      body: UndoGroupChange,
      returns: HitGroupChange,
    },
    ({ caller, params, body }) => undoGroupStatus(deps, caller, params.id, body.change),
  );
}
