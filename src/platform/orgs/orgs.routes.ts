import { z } from 'zod';
import { requireCaller, type App } from '../http/app-type.ts';
import { PageQuery } from '../lib/page-request.ts';
import { boundedString } from '../lib/text/bounded-text.ts';
import { createKey, listKeys, revokeKey, rotateKey, type ChangeKeyDeps } from './keys.ts';
import { listAuditEntries } from './list-audit.ts';
import { AuditList, CreateKeyInput, Key, KeyList, KeyWithSecret, RotateKeyInput } from './orgs.schema.ts';

const KeyPath = z.object({ id: boundedString({ min: 1, max: 100 }) });

export function orgRoutes(app: App, deps: ChangeKeyDeps): void {
  app.route({
    method: 'GET',
    url: '/api/keys',
    config: { scope: 'keys:admin' },
    schema: { tags: ['keys'], summary: 'List keys', querystring: PageQuery, response: { 200: KeyList } },
    handler: (request) => listKeys(deps, requireCaller(request), request.query),
  });
  app.route({
    method: 'POST',
    url: '/api/keys',
    config: { scope: 'keys:admin', secretField: 'key' },
    schema: {
      tags: ['keys'],
      summary: 'Create a key. Its secret is shown only once',
      body: CreateKeyInput,
      response: { 200: KeyWithSecret },
    },
    handler: (request) => createKey(deps, requireCaller(request), request.body),
  });
  app.route({
    method: 'POST',
    url: '/api/keys/:id/rotate',
    config: { scope: 'keys:admin', secretField: 'key' },
    schema: {
      tags: ['keys'],
      summary: 'Rotate the secret of a key',
      params: KeyPath,
      body: RotateKeyInput,
      response: { 200: KeyWithSecret },
    },
    handler: (request) => rotateKey(deps, requireCaller(request), request.params.id, request.body),
  });
  app.route({
    method: 'DELETE',
    url: '/api/keys/:id',
    config: { scope: 'keys:admin', ignoresBody: true },
    schema: { tags: ['keys'], summary: 'Revoke a key', params: KeyPath, response: { 200: Key } },
    handler: (request) => revokeKey(deps, requireCaller(request), request.params.id),
  });
  app.route({
    method: 'GET',
    url: '/api/audit',
    config: { scope: 'audit:read' },
    schema: {
      tags: ['audit'],
      summary: 'List audit entries, newest first',
      querystring: PageQuery,
      response: { 200: AuditList },
    },
    handler: (request) => listAuditEntries(deps, requireCaller(request), request.query),
  });
}
