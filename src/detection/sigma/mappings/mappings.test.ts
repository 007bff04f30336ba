import { siemKinds } from '../../siem/connectors/registry.ts';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { dataDir } from '../../../../test/support/data.ts';
import { matchesEvent } from '../../../../test/support/detection/sigma/sigma-events.ts';
import { listFields, type Expression } from '../../matching/expression.ts';
import { convertTask } from '../convert/convert-task.ts';
import { parseRules } from '../rules/parse-rules.ts';
import { UnsupportedError } from '../../siem/dialects/dialect.ts';
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
  for (const kind of siemKinds) expect([kind, map([], kind).isMapped]).toEqual([kind, true]);
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

const flat = ['EventID', 'Channel', 'CommandLine', 'Image'];
const linuxProcesses = { product: 'linux', category: 'process_creation' };
const mapLinux = (name: string, columns: string[], product = 'linux') =>
  mapLogSource(loadMappings(), { ...linuxProcesses, product }, { kind: 'local', datasets: [dataset(name, columns)] });

test('a dataset that is named after one product is not that of another with the same fields', () => {
  expect(mapLinux('windows', flat).isRecognized).toBe(false);
  expect(mapLinux('linux', flat).isRecognized).toBe(true);
});

test.each([
  [
    flat,
    { EventID: 1, Channel: 'Linux-Sysmon/Operational' },
    { EventID: 1, Channel: 'Microsoft-Windows-Sysmon/Operational' },
  ],
  [flat, { EventID: 1 }, { EventID: 1, Channel: 'Security' }],
  [
    ['process.executable', 'event.category', 'host.os.type', 'winlog.channel'],
    { 'event.category': 'process', 'event.type': 'start', 'host.os.type': 'linux' },
    { 'event.category': 'process', 'event.type': 'start', 'host.os.type': 'windows' },
  ],
  [
    ['class_uid', 'process.cmd_line', 'device.os.type_id'],
    { class_uid: 1007, activity_id: 1, 'device.os.type_id': 200 },
    { class_uid: 1007, activity_id: 1, 'device.os.type_id': 100 },
  ],
])('selects the events of a product by their values in a dataset with %j', (columns, own, other) => {
  const { isRecognized, where } = mapLinux('edr', columns);
  expect([isRecognized, matchesEvent(where!, own), matchesEvent(where!, other)]).toEqual([true, true, false]);
});

test('does not ask for a product if no field says which it is', () => {
  const { where } = mapLinux('edr', ['class_uid', 'process.cmd_line']);
  expect(listFields(where!)).toEqual(['class_uid', 'activity_id']);
});

const acme = { product: 'acme', service: 'auth' };

test('names a dataset after a log source without a mapping', () => {
  const allowed = mapLogSource(loadMappings(), acme, { kind: 'local', datasets: [], allowUnknown: true });
  expect(allowed).toMatchObject({ table: 'acme_auth', isMapped: false, isRecognized: false });
  const found = mapLogSource(loadMappings(), acme, { kind: 'local', datasets: [dataset('acme_auth', ['x'])] });
  expect(found).toMatchObject({ table: 'acme_auth', isMapped: false, isRecognized: true });
  expect(defaultTable({ category: '???' })).toBe('events');
  expect(defaultTable({ product: '7zip', service: 'A.b' })).toBe('zip_b');
});

test.each([
  [{ product: 'windows', category: 'procss_creation' }, 'did you mean category: process_creation?'],
  [{ product: 'windows', service: 'sysmonn' }, 'did you mean service: sysmon?'],
  [{ product: 'windows', category: 'file_block' }, 'did you mean category: file_block_executable or'],
  [{ product: 'windows', category: 'sysmon' }, 'did you mean service: sysmon or'],
  [{ product: 'windos', category: 'process_creation' }, 'did you mean product: windows?'],
  [{ category: 'process_creation' }, 'windows/process_creation?'],
  [{ product: 'apache', category: 'webserver' }, 'did you mean apache or webserver?'],
  [{ product: 'windows', category: 'process_creation', service: 'sysmonn' }, 'did you mean service: sysmon?'],
  [acme, 'the log source acme/auth is unknown. Correct it'],
])('rejects the unknown log source %j with the nearest names', (logSource, message) => {
  for (const kind of siemKinds) {
    const convert = () => mapLogSource(loadMappings(), logSource, { kind, datasets: [] });
    expect(convert, kind).toThrow(UnsupportedError);
    expect(convert, kind).toThrow(message);
  }
});

test('adds the conditions of the parts of a log source', () => {
  const both = mapLogSource(
    loadMappings(),
    { ...processes, service: 'sysmon' },
    { kind: 'local', datasets: [dataset('windows', ['EventID', 'Channel'])] },
  );
  const matches = (event: Record<string, string | number>): boolean => matchesEvent(both.where!, event);
  expect(matches({ Channel: 'Microsoft-Windows-Sysmon/Operational', EventID: 1 })).toBe(true);
  expect(matches({ Channel: 'Microsoft-Windows-Sysmon/Operational', EventID: 3 })).toBe(false);
  expect(matches({ Channel: 'Security', EventID: 4688 })).toBe(false);
});

const recorded = dataDir();

test.skipIf(!recorded)('every recorded rule of the library has a known log source for every kind of connection', () => {
  const file = join(recorded!, 'detections/sigma/rules.ndjson.gz');
  const lines = gunzipSync(readFileSync(file)).toString().trim().split('\n');
  const sources = new Map(
    lines
      .flatMap((line) => parseRules((JSON.parse(line) as { yaml: string }).yaml, loadMappings().placeholders))
      .flatMap((rule) => (rule.kind === 'rule' ? [[JSON.stringify(rule.logSource), rule.logSource] as const] : [])),
  );
  expect(sources.size).toBeGreaterThan(100);
  for (const logSource of sources.values())
    for (const kind of siemKinds) mapLogSource(loadMappings(), logSource, { kind, datasets: [] });
});

test.skipIf(!recorded)('no recorded Windows event is a process of Linux or macOS', () => {
  const folder = join(recorded!, 'logs/windows');
  const events = readdirSync(folder).flatMap((name) =>
    gunzipSync(readFileSync(join(folder, name, 'events.ndjson.gz')))
      .toString()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>),
  );
  const count = (where: Expression): number => events.filter((event) => matchesEvent(where, event)).length;
  const ofWindows = mapLogSource(loadMappings(), processes, { kind: 'local', datasets: [dataset('edr', flat)] });
  expect(count(ofWindows.where!)).toBeGreaterThan(100);
  expect([count(mapLinux('edr', flat).where!), count(mapLinux('edr', flat, 'macos').where!)]).toEqual([0, 0]);
});

test.skipIf(!recorded)('the recorded rules with unknown log sources are not converted', () => {
  const rules = readFileSync(join(recorded!, 'cases/sigma-unknown-sources.yml'), 'utf8');
  const task = { rules, kind: 'local' as const, datasets: null, timeColumn: '_time', mappingFolders: [] };
  const results = convertTask(task).map(({ result }) => result);
  expect(results.map(({ query, errors }) => [query, errors[0]!.message])).toEqual([
    [null, expect.stringContaining('category: process_creation')],
    [null, expect.stringContaining('service: sysmon')],
    [null, expect.stringContaining('category: file_block_executable')],
  ]);
  expect(convertTask({ ...task, allowUnknown: true }).map(({ result }) => result.status)).toEqual(
    Array(3).fill('converted'),
  );
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
