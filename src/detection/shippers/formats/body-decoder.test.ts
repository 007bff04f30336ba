import { expect, test } from 'vitest';
import { takesEvents } from '../../log-store/catalog/catalog.ts';
import { datasetOfIndex, datasetOfUnnamed, findEcsDataset, toDatasetName } from './body-decoder.ts';

test.each([
  ['filebeat-8.15.0-2026.11.23-000001', 'filebeat'],
  ['filebeat-8.x-2026.11.23', 'filebeat'],
  ['logstash-2026.11.23', 'logstash'],
  ['fluent-bit', 'fluent_bit'],
  ['vector-2026-11-23', 'vector'],
  ['syslog_2026w47', 'syslog_2026w47'],
  ['auth-2026.w47', 'auth'],
  ['logs-nginx.access-default', 'nginx_access'],
  ['.ds-logs-system.auth-prod-2026.11.23-000007', 'system_auth'],
  ['logs-2026.11.23', 'logs'],
  ['auth0', 'auth0'],
  ['1password', 'd_1password'],
  ['2026.11.23', 'd_2026'],
  ['search', 'search_events'],
  ['web_history', 'web_history_events'],
  ['Ünïcode', 'n_code'],
  ['---', 'events'],
])('the index %s is the dataset %s', (index, dataset) => {
  expect(datasetOfIndex(index)).toBe(dataset);
});

test.each(['', 'x'.repeat(5000), '-'.repeat(5000), `a${'.1'.repeat(5000)}x`, 'search_events', 'a_history'])(
  'makes a valid dataset name of %#',
  (text) => {
    expect(takesEvents(toDatasetName(text))).toBe(true);
    expect(takesEvents(datasetOfIndex(text))).toBe(true);
  },
);

test.each<[Record<string, unknown>, string | undefined]>([
  [{ data_stream: { dataset: 'nginx.access' }, event: { dataset: 'other' } }, 'nginx_access'],
  [{ data_stream: { dataset: 'generic' }, event: { dataset: 'system.auth' } }, 'system_auth'],
  [{ 'event.dataset': 'okta.system' }, 'okta_system'],
  [{ event: { dataset: 7 } }, undefined],
  [{ event: 'login' }, undefined],
])('finds the dataset that %j names', (event, dataset) => {
  expect(findEcsDataset(event)).toBe(dataset);
});

test.each<[Record<string, unknown>, string]>([
  [{ class_uid: 1007, metadata: { version: '1.3.0' } }, 'ocsf'],
  [{ class_uid: 1007 }, 'splunk'],
  [{ class_uid: 'x', metadata: { version: '1.3.0' } }, 'splunk'],
  [{ class_uid: 1007, metadata: { version: 1 } }, 'splunk'],
])('an event such as %j belongs to %s if nothing names its dataset', (event, dataset) => {
  expect(datasetOfUnnamed(event, 'splunk')).toBe(dataset);
});
