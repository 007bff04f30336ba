import { expect, test } from 'vitest';
import { selectIn } from '../../../test/support/select-rows.ts';
import { startApp } from '../../../test/support/harness.ts';
import { createSecretbox } from '../../platform/lib/secretbox.ts';
import { rotateKey, sealedColumns } from './database-command.ts';

const [former, current] = ['f'.repeat(32), 'c'.repeat(32)];
const { deps, newOrg } = await startApp({ env: { TOCSIN_SECRET_KEY: former, TOCSIN_LOG_LEVEL: 'fatal' } });
const { db } = deps;
const query = selectIn(db);
const org = await newOrg();
const boxOf = (secretKey: string, previousSecretKey?: string) =>
  createSecretbox({ secretKey, previousSecretKey, dataDir: '', databaseUrl: 'postgres://elsewhere' });

async function create(path: string, body: object): Promise<{ id: string }> {
  const response = await org.call('POST', path, body);
  expect(response.status, JSON.stringify(response.body)).toBe(200);
  return response.body;
}

test('rotates every column of sealed values', async () => {
  const columns = await query<{ table: string; column: string }>`
    select table_name as "table", column_name as "column" from information_schema.columns
    where table_schema = 'public' and column_name like 'sealed%' and data_type = 'bytea' order by 1`;
  expect(sealedColumns.map(({ table, column }) => ({ table, column }))).toEqual(columns);
});

test('encrypts credentials with the new key, again after an interruption, and lists what neither key opens', async () => {
  const url = 'https://host.example.org/path';
  const settings = { url: 'https://search.example.org' };
  const credentials = { user: 'soc', password: 'secret-word' };
  await create('/api/connections', { kind: 'opensearch', name: 'c', settings, credentials });
  await create('/api/mcp-servers', { name: 'm', url, headers: { 'x-key': 'secret-word' } });
  await create('/api/destinations', { kind: 'webhook', name: 'o', url });
  const auth = { type: 'bearer', token: 'secret-word' };
  await create('/api/feed/sources', { kind: 'kev', name: 's', url, auth });
  const agent = await create('/api/agents', { name: 'a', systemPrompt: 'Look.' });
  await create(`/api/agents/${agent.id}/triggers`, { source: 'webhook' });

  const both = boxOf(current, former);
  const [connection] = await query<{ organization_id: string; id: string; sealed: Buffer }>`
    select organization_id, id, sealed from connections where sealed is not null and kind = 'opensearch'`;
  const context = `connection/${connection!.organization_id}/${connection!.id}`;
  expect(JSON.parse(both.open(connection!.sealed, context))).toEqual(credentials);
  // The first part of a rotation that was interrupted.
  await query`update connections set sealed = ${both.reseal(connection!.sealed, context)} where id = ${connection!.id} returning id`;
  expect(await rotateKey(db, both)).toEqual({ resealed: 4, unchanged: 1, unreadable: [] });
  expect(await rotateKey(db, boxOf(current))).toEqual({ resealed: 0, unchanged: 5, unreadable: [] });
  const { unreadable } = await rotateKey(db, boxOf('o'.repeat(32), former));
  expect(unreadable.map((text) => text.split(' ')[0])).toEqual([
    'agent-trigger',
    'connection',
    'destination',
    'source',
    'mcp-server',
  ]);
});
