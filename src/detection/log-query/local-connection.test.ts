import { expect, test } from 'vitest';
import { testConnectorConformance } from '../../../test/support/detection/siem/connector-conformance.ts';
import { startLogStore } from '../../../test/support/detection/log-store.ts';
import { remoteConnectors, siemConnectors } from '../siem/connectors/registry.ts';
import { localConnection } from './local-connection.ts';

testConnectorConformance('local', async () => {
  const store = await startLogStore();
  const org = await store.newOrg();
  for (const hour of ['00', '01', '02', '03']) {
    store.at(`2024-06-01T${hour}:00:00Z`);
    await store.send(org, 'auth', [{ user: `u${hour}` }]);
  }
  return {
    connection: localConnection(store.deps, org),
    events: 4,
    firstAt: new Date('2024-06-01T00:00:00Z'),
    queries: {
      all: 'SELECT _id, _time, user FROM auth',
      groups: 'SELECT user, count(*) AS n FROM auth GROUP BY user',
      empty: "SELECT user FROM auth WHERE user = 'nobody'",
      broken: 'SELECT FROM auth WHERE',
    },
  };
});

test('the registry lists every connection kind', () => {
  expect(Object.keys({ ...siemConnectors, ...remoteConnectors })).toEqual([
    'local',
    'clickhouse',
    'elasticsearch',
    'opensearch',
    'postgres',
    'sentinel',
    'splunk',
  ]);
});
