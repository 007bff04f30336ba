import { z } from 'zod';
import { apiRoutes } from '../../platform/http/api-routes.ts';
import { requireCaller, type App } from '../../platform/http/app-type.ts';
import { recordEtag } from '../../platform/http/etag.ts';
import { appError } from '../../platform/lib/errors.ts';
import {
  Skill,
  skillBounds,
  SkillInput,
  SkillList,
  SkillPath,
  SkillVersionPath,
  SkillVersions,
} from './skills.schema.ts';
import { exportSkill, getSkill, getSkills, getSkillVersions, importSkill, putSkill, removeSkill } from './skills.ts';

const zipType = 'application/zip';
const archive = { contentMediaType: zipType };

/** Registers the routes of skills. Instructions belong to detections, so the scopes are those of detections. */
export function skillRoutes(app: App, deps: Parameters<typeof putSkill>[0]): void {
  const route = apiRoutes(app, { tag: 'detections', scope: 'detections:write' });
  const scope = 'detections:read';
  route(
    'GET /api/skills',
    { operationId: 'listSkills', summary: 'List the skills, by name', scope, returns: SkillList },
    ({ caller }) => getSkills(deps, caller),
  );
  route(
    'GET /api/skills/:name',
    { operationId: 'getSkill', summary: 'Get a skill', scope, params: SkillPath, returns: Skill, hasEtag: true },
    ({ caller, params }) => getSkill(deps, caller, params.name),
  );
  route(
    'GET /api/skills/:name/versions',
    {
      operationId: 'listSkillVersions',
      summary: 'List the versions of a skill, newest first',
      description: 'The last 20 versions of the organization. The shipped version, 0, is not listed.',
      scope,
      params: SkillPath,
      returns: SkillVersions,
    },
    ({ caller, params }) => getSkillVersions(deps, caller, params.name),
  );
  route(
    'GET /api/skills/:name/versions/:version',
    {
      operationId: 'getSkillVersion',
      summary: 'Get a version of a skill',
      description: '0 is the version that ships with the service.',
      scope,
      params: SkillVersionPath,
      returns: Skill,
    },
    ({ caller, params }) => getSkill(deps, caller, params.name, params.version),
  );
  route(
    'PUT /api/skills/:name',
    {
      operationId: 'setSkill',
      summary: 'Create a skill, or a new version of it',
      description: 'Without an own version, a change of a shipped skill becomes version 1 of the organization.',
      params: SkillPath,
      body: SkillInput,
      returns: Skill,
      hasEtag: true,
      acceptsIfMatch: true,
      bodyBytesMax: 4 * skillBounds.bytesMax,
    },
    ({ caller, params, body, ifMatch }) => putSkill(deps, caller, params.name, { ...body, ifMatch }),
  );
  route(
    'DELETE /api/skills/:name',
    {
      operationId: 'deleteSkill',
      summary: 'Delete a skill that no detection uses',
      description: 'Deleting a changed shipped skill brings the shipped version back.',
      acceptsIfMatch: true,
      params: SkillPath,
      returns: Skill,
    },
    ({ caller, params, ifMatch }) => removeSkill(deps, caller, params.name, ifMatch),
  );
  archiveRoutes(app, deps);
}

function archiveRoutes(app: App, deps: Parameters<typeof putSkill>[0]): void {
  app.route({
    method: 'GET',
    url: '/api/skills/:name/export',
    config: { scope: 'detections:read' },
    schema: {
      operationId: 'exportSkill',
      tags: ['detections'],
      summary: 'Export a skill as a zip archive',
      description: 'A folder in the Agent Skills form: `SKILL.md` and the files beside it.',
      params: SkillPath,
      response: { 200: { description: 'OK', content: { [zipType]: { schema: z.string().meta(archive) } } } },
    },
    handler: async (request, reply) => {
      const { name } = request.params;
      const zip = await exportSkill(deps, requireCaller(request), name);
      const headers = { 'content-type': zipType, 'content-disposition': `attachment; filename="${name}.zip"` };
      return reply.headers(headers).send(zip as never);
    },
  });
  // A scope of its own, because the parser of archives must not apply to other routes.
  void app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: skillBounds.zipBytesMax }, (_request, body, done) =>
      done(null, body),
    );
    (scope as unknown as App).route({
      method: 'POST',
      url: '/api/skills/import',
      bodyLimit: skillBounds.zipBytesMax,
      config: {
        scope: 'detections:write',
        acceptsIfMatch: true,
        bodyContent: { [zipType]: { schema: { type: 'string', ...archive } } },
      },
      schema: {
        operationId: 'importSkill',
        tags: ['detections'],
        summary: 'Create a skill, or a new version of it, from a zip archive',
        description:
          'The archive has `SKILL.md` at its root or in its one folder, whose name is that of the skill. At most 2 MiB as sent, 1 MiB unpacked, and 100 files beside `SKILL.md`.',
        consumes: [zipType],
        response: { 200: Skill },
      },
      handler: async (request, reply) => {
        const type = String(request.headers['content-type'] ?? '')
          .split(';')[0]!
          .trim();
        if (type !== zipType && type !== 'application/octet-stream')
          throw appError('unsupported_media_type', `Send the archive as ${zipType}.`);
        const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
        const skill = await importSkill(deps, requireCaller(request), body, request.headers['if-match']);
        void reply.header('etag', recordEtag(skill));
        return skill;
      },
    });
  });
}
