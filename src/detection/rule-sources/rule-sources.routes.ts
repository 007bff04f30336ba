import type { App } from '../../platform/http/app-type.ts';
import { apiRoutes } from '../../platform/http/api-routes.ts';
import { acceptsEventStream, streamProgress } from '../../platform/http/responses/progress-stream.ts';
import type { ImportProgress } from '../detections/bulk/bulk.schema.ts';
import {
  AppliedUpdate,
  ApplyUpdate,
  ChangeRuleSource,
  RuleSource,
  RuleSourceInput,
  RuleSourceList,
  RuleSourcePath,
  RuleUpdate,
} from './rule-sources.schema.ts';
import {
  changeRuleSource,
  checkRuleSource,
  createRuleSource,
  getRuleSource,
  getRuleSources,
  removeRuleSource,
} from './rule-sources.ts';
import { applyUpdate, planUpdate } from './update-rules.ts';

/** Registers the routes of rule sources. They bring detections, so the scopes are those of detections. */
export function ruleSourceRoutes(app: App, deps: Parameters<typeof planUpdate>[0]): void {
  const route = apiRoutes(app, { tag: 'detections', scope: 'detections:write' });
  const scope = 'detections:read';
  route(
    'GET /api/rule-sources',
    {
      operationId: 'listRuleSources',
      summary: 'List the sources of Sigma rules, by name',
      scope,
      returns: RuleSourceList,
    },
    ({ caller }) => getRuleSources(deps, caller),
  );
  route(
    'POST /api/rule-sources',
    {
      operationId: 'createRuleSource',
      summary: 'Add a source of Sigma rules',
      description:
        'The address is fetched within seconds, and then once a day. Nothing is imported before an update is applied.',
      body: RuleSourceInput,
      returns: RuleSource,
      hasEtag: true,
    },
    ({ caller, body }) => createRuleSource(deps, caller, body),
  );
  route(
    'GET /api/rule-sources/:id',
    {
      operationId: 'getRuleSource',
      summary: 'Get a source of Sigma rules',
      scope,
      params: RuleSourcePath,
      returns: RuleSource,
      hasEtag: true,
    },
    ({ caller, params }) => getRuleSource(deps, caller, params.id),
  );
  route(
    'PUT /api/rule-sources/:id',
    {
      operationId: 'updateRuleSource',
      summary: 'Change a source of Sigma rules. Absent fields are unchanged',
      params: RuleSourcePath,
      body: ChangeRuleSource,
      returns: RuleSource,
      hasEtag: true,
      acceptsIfMatch: true,
    },
    ({ caller, params, body, ifMatch }) => changeRuleSource(deps, caller, { id: params.id, changes: body, ifMatch }),
  );
  route(
    'DELETE /api/rule-sources/:id',
    {
      operationId: 'deleteRuleSource',
      summary: 'Delete a source of Sigma rules. Its detections stay',
      params: RuleSourcePath,
      acceptsIfMatch: true,
      returns: RuleSource,
    },
    ({ caller, params, ifMatch }) => removeRuleSource(deps, caller, params.id, ifMatch),
  );
  route(
    'POST /api/rule-sources/:id/check',
    {
      operationId: 'checkRuleSource',
      summary: 'Check the address of a source of Sigma rules within seconds',
      params: RuleSourcePath,
      returns: RuleSource,
    },
    ({ caller, params }) => checkRuleSource(deps, caller, params.id),
  );
  route(
    'GET /api/rule-sources/:id/update',
    {
      operationId: 'planRuleUpdate',
      summary: 'Compare the newest version of a source with its detections',
      description:
        'Lists the detections that it adds, changes and no longer has, and how many events of the last 24 hours each new or changed rule matches.',
      scope,
      params: RuleSourcePath,
      returns: RuleUpdate,
    },
    ({ caller, params }) => planUpdate(deps, caller, params.id),
  );
  route(
    'POST /api/rule-sources/:id/update',
    {
      operationId: 'applyRuleUpdate',
      summary: 'Import the rules of the newest version of a source, enabled',
      description:
        'With `Accept: text/event-stream`, the response is a stream of server-sent events like that of `importDetections`: `progress`, then `result` or `problem`. The import continues if the client closes the connection.',
      params: RuleSourcePath,
      body: ApplyUpdate,
      returns: AppliedUpdate,
    },
    async ({ caller, params, body, request, reply }) => {
      const update = { ...params, ...body };
      if (!acceptsEventStream(request)) return applyUpdate(deps, caller, update);
      await streamProgress({ request, reply }, (report: (progress: ImportProgress) => void) =>
        applyUpdate(deps, caller, update, report),
      );
      return undefined as never;
    },
  );
}
