import { expect, test } from 'vitest';
import { dialectKinds } from '../dialects/registry.ts';
import { loadMappings, readMapping, toMapping } from './load-mappings.ts';
import { defaultTable, mapLogSource } from './map-rule.ts';

const dataset = (name: string, columns: string[]) => ({
  name,
  columns: new Set(columns.map((column) => column.toLowerCase())),
});
const processes = { product: 'windows', category: 'process_creation' };
const map = (datasets: ReturnType<typeof dataset>[], kind = 'local') =>
  mapLogSource(loadMappings(), processes, { kind, datasets });

test('recognizes the form of a dataset by its fields', () => {
  expect(map([dataset('win_evtx', ['Event.System.EventID', 'Event.EventData.Image'])])).toMatchObject({
    table: 'win_evtx',
    shape: 'evtx',
  });
  expect(map([dataset('beats', ['winlog.channel'])])).toMatchObject({ table: 'beats', shape: 'winlogbeat' });
  expect(map([dataset('other', ['EventID', 'channel']), dataset('windows', ['EVENTID', 'Channel'])])).toMatchObject({
    table: 'windows',
    shape: 'nxlog',
  });
  expect(map([dataset('windows', ['message'])])).toMatchObject({ table: 'windows', isRecognized: false });
});

test('knows the log sources of Windows for every kind of connection', () => {
  for (const kind of dialectKinds) expect([kind, map([], kind).isMapped]).toEqual([kind, true]);
});

// A log source, a dataset's columns, the form that has them, and a Sigma field with its names in that form.
const forms: [source: string, columns: string[], shape: string, field: string, names: string[]][] = [
  ['aws//cloudtrail', ['eventSource', 'eventName'], 'cloudtrail', 'eventName', ['eventName']],
  ['aws//cloudtrail', ['aws.cloudtrail.event_type'], 'ecs', 'eventName', ['event.action']],
  ['aws//cloudtrail', ['class_uid', 'api.operation'], 'ocsf', 'eventName', ['api.operation']],
  ['azure//signinlogs', ['operationName', 'category'], 'diagnostic', 'IPAddress', ['properties.IPAddress', 'IPAddress']],
  ['azure//auditlogs', ['activityDisplayName'], 'graph', 'properties.message', ['activityDisplayName']],
  ['m365//audit', ['Operation', 'Workload'], 'management-api', 'Operation', ['Operation']],
  ['okta//okta', ['eventType', 'outcome.result'], 'okta-system-log', 'eventType', ['eventType']],
  ['gcp//gcp.audit', ['gcp.audit.method_name'], 'gcp-ecs', 'gcp.audit.method_name', ['gcp.audit.method_name', 'event.action']],
  ['gcp//google_workspace.admin', ['id.applicationName'], 'workspace-reports', 'new_value', ['parameters.new_value', 'new_value']],
  ['github//audit', ['action', 'actor'], 'github', 'action', ['action']],
  ['bitbucket//audit', ['auditType.action'], 'bitbucket', 'auditType.action', ['auditType.action']],
  ['kubernetes/application/audit', ['verb', 'objectRef.resource'], 'audit', 'apiGroup', ['objectRef.apiGroup']],
  ['kubernetes//audit', ['kubernetes.audit.verb'], 'ecs', 'verb', ['kubernetes.audit.verb']],
  ['linux/process_creation/', ['EventID', 'CommandLine'], 'sysmon', 'Image', ['Image']],
  ['linux/process_creation/', ['process.executable', 'event.category'], 'ecs', 'Image', ['process.executable']],
  ['linux/process_creation/', ['class_uid', 'process.cmd_line'], 'ocsf', 'CommandLine', ['process.cmd_line']],
  ['linux//auditd', ['type', 'key'], 'auditd', 'a0', ['a0']],
  ['linux//sshd', ['message'], 'syslog', 'x', ['x']],
  ['macos/file_event/', ['process.executable', 'event.category'], 'ecs', 'TargetFilename', ['file.path']],
  ['/webserver/', ['http.request.method', 'url.original'], 'webserver-ecs', 'sc-status', ['http.response.status_code']],
  ['/proxy/', ['url.domain'], 'proxy-ecs', 'c-uri', ['url.original']],
  ['/dns/', ['class_uid', 'query.hostname'], 'dns-ocsf', 'query', ['query.hostname']],
  ['/firewall/', ['destination.port'], 'firewall-ecs', 'dst_port', ['destination.port']],
  ['zeek//dns', ['_path', 'id.orig_h'], 'json', 'query', ['query']],
  ['zeek//http', ['zeek.session_id'], 'ecs', 'resp_mime_types', ['zeek.http.resp_mime_types']],
  ['windows/process_creation/', ['class_uid', 'process.cmd_line'], 'ocsf', 'Image', ['process.file.path', 'process.path']],
]; // prettier-ignore

test.each(forms)('%s with %j has the form %s', (source, columns, shape, field, names) => {
  const [product, category, service] = source.split('/');
  const logSource = Object.fromEntries(Object.entries({ product, category, service }).filter(([, part]) => part));
  const { local } = loadMappings()
    .list.flatMap(({ shapes }) => shapes)
    .find(({ name }) => name === shape)!.tables;
  const found = mapLogSource(loadMappings(), logSource, { kind: 'local', datasets: [dataset(local!, columns)] });
  expect([found.shape, found.isRecognized, found.names(field)]).toEqual([shape, true, names]);
});

test('names a dataset after a log source without a mapping', () => {
  expect(
    mapLogSource(loadMappings(), { product: 'acme', service: 'auth' }, { kind: 'local', datasets: [] }),
  ).toMatchObject({ table: 'acme_auth', isMapped: false });
  expect(defaultTable({ category: '???' })).toBe('events');
  expect(defaultTable({ product: '7zip', service: 'A.b' })).toBe('zip_b');
});

test('prefers the closest log source, and the mappings of a user', () => {
  const own = toMapping(
    readMapping(
      `
name: own
title: Own
sources:
  - logsource: {product: windows}
  - logsource: {product: windows, category: process_creation}
    where: {kind: process}
shapes:
  - {name: own, title: Own, tables: {local: mine}, fields: {Image: exe, '*': 'data.*'}}
`,
      'own.yml',
    ),
  );
  const mapping = mapLogSource({ list: [own, ...loadMappings().list] }, processes, { kind: 'local', datasets: [] });
  expect(mapping).toMatchObject({ table: 'mine', where: { kind: 'match', field: 'kind' } });
  expect([mapping.names('image'), mapping.names('User')]).toEqual([['exe'], ['data.User']]);
});

test('reports the file and the field of an invalid mapping', () => {
  expect(() => readMapping('name: x\ntitle: x\nshapes: []', 'x.yml')).toThrow(/x\.yml: shapes/);
});
