import { expect, test } from 'vitest';
import { operatorOf, scopes } from '../../src/platform/http/caller.ts';
import { createSignInLink } from '../../src/platform/orgs/sessions/sessions.ts';
import { postDetection } from '../support/detection/detection-factory.ts';
import { startApp } from '../support/harness.ts';

const { app, deps, newOrg } = await startApp();

type Json = ReturnType<typeof JSON.parse>;

test('names who signed in beside every change of a session without a key', async () => {
  const org = await newOrg();
  const { id } = await postDetection(org, { systemPrompt: 'one' });
  const payload = { token: await createSignInLink(deps.db, operatorOf(org.id), [...scopes]) };
  const signedIn = await app.inject({ method: 'POST', url: '/api/session/link', payload });
  const headers = {
    cookie: String(signedIn.headers['set-cookie']).split(';')[0]!,
    'x-tocsin-console': '1',
  };
  const call = async (method: 'GET' | 'POST' | 'PUT', url: string, body?: object): Promise<Json> => {
    const response = await app.inject({ method, url, headers, ...(body && { payload: body }) });
    expect(response.statusCode, response.body).toBe(200);
    return response.json();
  };
  const signed = { keyId: null, actor: 'Sign-in link' };
  const author = { keyId: null, name: 'Sign-in link' };

  await call('PUT', `/api/detections/${id}`, { systemPrompt: 'two' });
  await call('POST', `/api/detections/${id}/prompts`, { prompt: 'three' });
  expect((await call('GET', `/api/detections/${id}/prompts`)).prompts).toMatchObject([
    { version: 3, author },
    { version: 2, author },
    { version: 1, author: { keyId: org.key.split('_')[1], name: 'test' } },
  ]);
  expect((await call('GET', `/api/detections/${id}/revisions`)).revisions[0]).toMatchObject({ revision: 2, author });

  const exception = { entity: 'backup-svc', reason: 'Backups' };
  await call('POST', `/api/detections/${id}/exceptions`, exception);
  expect((await call('GET', `/api/detections/${id}/exceptions`)).exceptions).toMatchObject([signed]);

  await call('PUT', `/api/detections/${id}/tools/http_get`, { url: 'https://intel.example.com/{ip}' });
  expect((await call('GET', `/api/detections/${id}/tools`)).grants).toMatchObject([
    { allowedBy: null, actor: signed.actor },
  ]);

  await call('PUT', '/api/entity-notes', { notes: [{ entity: 'fs-02', note: 'File server' }] });
  expect((await call('GET', '/api/entity-notes')).notes).toMatchObject([signed]);

  await call('PUT', '/api/value-lists/scanners', { values: ['10.0.0.1'] });
  expect((await call('GET', '/api/value-lists')).lists).toMatchObject([signed]);

  const { runId } = await call('POST', `/api/detections/${id}/run`);
  expect(await call('GET', `/api/runs/${runId}`)).toMatchObject(signed);

  const item = await call('POST', '/api/feed/items', { text: 'Emotet used zq7-drop[.]top.' });
  const overridden = await call('PUT', `/api/feed/items/${item.id}/override`, { note: 'Ours' });
  expect(overridden.tenantOverrides).toMatchObject({ note: 'Ours', actor: signed.actor });

  await call('POST', '/api/views', { name: 'Mine', page: 'hits', query: '' });
  expect((await call('GET', '/api/views')).views).toMatchObject([signed]);
});
