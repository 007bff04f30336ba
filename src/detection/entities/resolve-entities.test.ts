import { expect, test } from 'vitest';
import { callOk } from '../../../test/support/detection/detection-factory.ts';
import { startApp } from '../../../test/support/harness.ts';
import { inOrg } from '../../platform/db/db.ts';
import { resolveEntities } from './resolve-entities.ts';

const { newOrg, deps } = await startApp();

test('joins names by the domains that the organization lists', async () => {
  const org = await newOrg();
  const names = ['HALDEN\\tomas.rehn', 'tomas.rehn@halden.example', 'Tomas.Rehn'].map((value) => ({
    type: 'user',
    value,
  }));
  const keys = async () =>
    (await inOrg(deps.db, org.id, (tx) => resolveEntities(tx, org.id, names))).map(({ key }) => key);
  expect(await keys()).toEqual(['user:halden\\tomas.rehn', 'user:tomas.rehn@halden.example', 'user:tomas.rehn']);
  await callOk(org, 'PUT', '/api/value-lists/own-domains', { values: ['halden.example'] });
  expect(await keys()).toEqual(['user:tomas.rehn', 'user:tomas.rehn', 'user:tomas.rehn']);
});
