import { Readable } from 'node:stream';
import { z } from 'zod';
import { requireCaller, type App } from '../http/app-type.ts';
import { apiRoutes } from '../http/api-routes.ts';
import { PageQuery } from '../lib/page-request.ts';
import { boundedString } from '../lib/text/bounded-text.ts';
import { exportAudit, listAuditEntries } from './audit/read-audit.ts';
import { createKey, listKeys, revokeKey, rotateKey, type ChangeKeyDeps } from './keys.ts';
import {
  AuditFilter,
  AuditList,
  AuditQuery,
  CreateKeyInput,
  Key,
  KeyList,
  KeyWithSecret,
  RotateKeyInput,
} from './orgs.schema.ts';

const KeyPath = z.object({ id: boundedString({ min: 1, max: 100 }) });

export function orgRoutes(app: App, deps: ChangeKeyDeps): void {
  const route = apiRoutes(app, { tag: 'keys', scope: 'keys:admin' });
  route(
    'GET /api/keys',
    { operationId: 'listKeys', summary: 'List keys', query: PageQuery, returns: KeyList },
    ({ caller, query }) => listKeys(deps, caller, query),
  );
  route(
    'POST /api/keys',
    {
      operationId: 'createKey',
      summary: 'Create a key. Its secret is shown only once',
      secretField: 'key',
      body: CreateKeyInput,
      returns: KeyWithSecret,
    },
    ({ caller, body }) => createKey(deps, caller, body),
  );
  route(
    'POST /api/keys/:id/rotate',
    {
      operationId: 'rotateKey',
      summary: 'Rotate the secret of a key',
      description: 'The key must not have a scope that the caller lacks, nor expire later than the caller.',
      secretField: 'key',
      params: KeyPath,
      body: RotateKeyInput,
      returns: KeyWithSecret,
    },
    ({ caller, params, body }) => rotateKey(deps, caller, params.id, body),
  );
  route(
    'DELETE /api/keys/:id',
    { operationId: 'revokeKey', summary: 'Revoke a key', params: KeyPath, returns: Key },
    ({ caller, params }) => revokeKey(deps, caller, params.id),
  );
  apiRoutes(app, { tag: 'audit', scope: 'audit:read' })(
    'GET /api/audit',
    {
      operationId: 'listAuditEntries',
      summary: 'List audit entries, newest first',
      query: AuditQuery,
      returns: AuditList,
    },
    ({ caller, query }) => listAuditEntries(deps, caller, query),
  );
  auditExportRoute(app, deps);
}

function auditExportRoute(app: App, { db }: ChangeKeyDeps): void {
  app.route({
    method: 'GET',
    url: '/api/audit/export',
    config: { scope: 'audit:read' },
    schema: {
      operationId: 'exportAudit',
      tags: ['audit'],
      summary: 'Export audit entries as lines of JSON, oldest first',
      description: 'Each line is an `AuditEntry`. Entries made after the export began are left out.',
      querystring: AuditFilter,
      response: { 200: { description: 'OK', content: { 'application/x-ndjson': { schema: z.string() } } } },
    },
    handler: (request, reply) =>
      reply
        .type('application/x-ndjson')
        .send(Readable.from(exportAudit(db, requireCaller(request), request.query)) as never) as never,
  });
}
