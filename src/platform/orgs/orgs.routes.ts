import { z } from 'zod';
import type { Deps } from '../../app/deps.ts';
import { callerOf, type App } from '../http/app-type.ts';
import { PageQuery } from '../lib/page-request.ts';
import { text } from '../lib/text/bounded-text.ts';
import { createKey, endKey, getAudit, getKeys, renewKey } from './keys.ts';
import { AuditList, CreateKey, Key, KeyList, KeyWithSecret, RotateKey } from './orgs.schema.ts';

const KeyPath = z.object({ id: text({ min: 1, max: 100 }) });

export function orgRoutes(app: App, deps: Deps): void {
  app.route({
    method: 'GET',
    url: '/api/keys',
    config: { scope: 'keys:admin' },
    schema: { tags: ['keys'], summary: 'List keys', querystring: PageQuery, response: { 200: KeyList } },
    handler: (request) => getKeys(deps, callerOf(request), request.query),
  });
  app.route({
    method: 'POST',
    url: '/api/keys',
    config: { scope: 'keys:admin', secretField: 'key' },
    schema: {
      tags: ['keys'],
      summary: 'Create a key; its secret is shown once',
      body: CreateKey,
      response: { 200: KeyWithSecret },
    },
    handler: (request) => createKey(deps, callerOf(request), request.body),
  });
  app.route({
    method: 'POST',
    url: '/api/keys/:id/rotate',
    config: { scope: 'keys:admin', secretField: 'key' },
    schema: {
      tags: ['keys'],
      summary: 'Give a key a new secret',
      params: KeyPath,
      body: RotateKey,
      response: { 200: KeyWithSecret },
    },
    handler: (request) => renewKey(deps, callerOf(request), request.params.id, request.body),
  });
  app.route({
    method: 'DELETE',
    url: '/api/keys/:id',
    config: { scope: 'keys:admin', noBody: true },
    schema: { tags: ['keys'], summary: 'Revoke a key', params: KeyPath, response: { 200: Key } },
    handler: (request) => endKey(deps, callerOf(request), request.params.id),
  });
  app.route({
    method: 'GET',
    url: '/api/audit',
    config: { scope: 'audit:read' },
    schema: {
      tags: ['audit'],
      summary: 'Page over all changes, newest first',
      querystring: PageQuery,
      response: { 200: AuditList },
    },
    handler: (request) => getAudit(deps, callerOf(request), request.query),
  });
}
