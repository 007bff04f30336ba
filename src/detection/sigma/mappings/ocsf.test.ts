import { afterAll, expect, test } from 'vitest';
import { newDataDir } from '../../../../test/support/harness.ts';
import { openEvents } from '../../../../test/support/detection/sigma/sigma-events.ts';
import { isObject } from '../../../platform/lib/json/json-values.ts';
import { convertTask } from '../convert/convert-task.ts';

const time = Date.UTC(2026, 2, 1);
const base = { severity_id: 1, time, metadata: { version: '1.3.0', product: { name: 'Test', vendor_name: 'Test' } } };
const device = { hostname: 'ws-7', type_id: 2 };

/** Events with the structure of OCSF 1.3 (schema.ocsf.io), of the classes process, network, DNS, HTTP and API activity. */
const events = [
  {
    ...base,
    class_uid: 1007,
    category_uid: 1,
    activity_id: 1,
    type_uid: 100_701,
    device,
    actor: {
      process: { file: { path: 'C:\\Windows\\System32\\cmd.exe', name: 'cmd.exe', type_id: 1 } },
      user: { name: 'ada' },
    },
    process: {
      pid: 812,
      cmd_line: 'vssadmin.exe  delete shadows /all /quiet',
      file: { path: 'C:\\Windows\\System32\\vssadmin.exe', name: 'vssadmin.exe', type_id: 1 },
    },
  },
  {
    ...base,
    class_uid: 4001,
    category_uid: 4,
    activity_id: 1,
    type_uid: 400_101,
    device,
    src_endpoint: { ip: '10.1.2.3', port: 50_111 },
    dst_endpoint: { ip: '203.0.113.9', port: 4444 },
  },
  {
    ...base,
    class_uid: 4003,
    category_uid: 4,
    activity_id: 1,
    type_uid: 400_301,
    query: { hostname: 'xmr.pool.minergate.com', type: 'A' },
    src_endpoint: { ip: '10.1.2.3' },
  },
  {
    ...base,
    class_uid: 4002,
    category_uid: 4,
    activity_id: 3,
    type_uid: 400_203,
    http_request: {
      http_method: 'GET',
      user_agent: 'Empire/3',
      url: { url_string: 'http://evil.test/a', hostname: 'evil.test' },
    },
    src_endpoint: { ip: '10.1.2.3' },
    dst_endpoint: { ip: '203.0.113.9', port: 80 },
  },
  {
    ...base,
    class_uid: 6003,
    category_uid: 6,
    activity_id: 1,
    type_uid: 600_301,
    api: { operation: 'StopLogging', service: { name: 'cloudtrail.amazonaws.com' } },
    cloud: { provider: 'AWS', region: 'eu-north-1', account: { uid: '111122223333' } },
    actor: { user: { name: 'ada', type: 'IAMUser' } },
    src_endpoint: { ip: '192.0.2.4' },
  },
];

const store = await openEvents(newDataDir(), { ocsf: events });
afterAll(() => store.close());

/** Returns the paths of an event's values, which are the columns of its dataset. Objects are columns too. */
const pathsOf = (event: object): string[] =>
  Object.entries(event).flatMap(([key, value]) =>
    isObject(value) ? [key, ...pathsOf(value).map((inner) => `${key}.${inner}`)] : [key],
  );
const datasets = [{ name: 'ocsf', columns: [...new Set(events.flatMap(pathsOf))] }];

test.each([
  [1007, { product: 'windows', category: 'process_creation' }, { 'Image|endswith': '\\vssadmin.exe', 'CommandLine|contains|all': ['shadow', 'delete'], 'ParentImage|endswith': '\\cmd.exe' }],
  [4001, { product: 'windows', category: 'network_connection' }, { DestinationPort: 4444, 'DestinationIp|cidr': '203.0.113.0/24' }],
  [4001, { category: 'firewall' }, { dst_port: 4444 }],
  [4003, { category: 'dns' }, { 'query|endswith': '.minergate.com' }],
  [4003, { product: 'windows', category: 'dns_query' }, { 'QueryName|endswith': '.minergate.com' }],
  [4002, { category: 'proxy' }, { 'c-useragent|startswith': 'Empire' }],
  [6003, { product: 'aws', service: 'cloudtrail' }, { eventSource: 'cloudtrail.amazonaws.com', eventName: ['StopLogging', 'DeleteTrail'] }],
])('a Sigma rule finds the OCSF event of class %i: %j', async (classUid, logsource, selection) => {
  const rules = JSON.stringify({ title: 'T', logsource, detection: { s: selection, condition: 's' } });
  const [converted] = convertTask({ kind: 'local', timeColumn: '_time', mappingFolders: [], datasets, rules });
  expect(converted!.result).toMatchObject({ status: 'converted', dataset: 'ocsf' });
  const rows = await store.run(converted!.result.query!);
  // The engine numbers the events of a dataset from 1.
  expect(rows.map((row) => events[Number(String(row['_id']).split(':')[1]) - 1]!.class_uid)).toEqual([classUid]);
}); // prettier-ignore
