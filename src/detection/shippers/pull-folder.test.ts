import { mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { PutObjectCommand } from '@aws-sdk/client-s3';
import { expect, test } from 'vitest';
import { startS3Server } from '../../../test/support/detection/s3-server.ts';
import { selectIn } from '../../../test/support/select-rows.ts';
import { newDataDir, startApp, type TestOrg } from '../../../test/support/harness.ts';
import { parseLogsUrl, type BucketAddress } from '../../platform/lib/storage/logs-url.ts';
import { toOrgId } from '../../platform/lib/org-id.ts';
import { openS3Client } from '../../platform/lib/storage/s3-client.ts';
import { readFolderSettings, type FolderSettings } from './shipper-settings.ts';
import { pullFolder } from './pull-folder.ts';

const now = new Date();
const { newOrg, deps } = await startApp();
const storage = await startS3Server();
const day = now.toISOString().slice(0, 10).replaceAll('-', '/');

const records = (ids: number[]): Buffer =>
  gzipSync(
    JSON.stringify({
      Records: ids.map((id) => ({
        eventVersion: '1.08',
        eventID: `0000000${id}-aaaa-bbbb-cccc-000000000000`,
        eventTime: now.toISOString(),
        eventSource: 'iam.amazonaws.com',
        eventName: 'CreateAccessKey',
        sourceIPAddress: '192.0.2.4',
      })),
    }),
  );
const files = {
  [`AWSLogs/1/CloudTrail/eu-north-1/${day}/a.json.gz`]: records([1, 2]),
  [`AWSLogs/1/CloudTrail/eu-north-1/${day}/b.json.gz`]: records([2, 3]),
  [`AWSLogs/1/CloudTrail/eu-north-1/2020/01/01/old.json.gz`]: records([8]),
  [`AWSLogs/1/CloudTrail/eu-west-1/${day}/broken.json.gz`]: records([9]).subarray(0, 40),
  [`AWSLogs/1/CloudTrail-Digest/eu-north-1/${day}/d.json.gz`]: gzipSync('{"digestStartTime":"2026-01-01"}'),
};

const settingsFor = (location: string, { key }: TestOrg, more = {}): FolderSettings =>
  readFolderSettings(JSON.stringify({ trail: { location, key, format: 'cloudtrail', ...more } }))['trail']!;
const pull = (settings: FolderSettings) => pullFolder(deps, 'trail', settings, new AbortController().signal);
const countEvents = async (org: TestOrg) =>
  Object.fromEntries(
    (await org.call('GET', '/api/logs')).body.datasets.map((one: { name: string; events: number }) => [
      one.name,
      one.events,
    ]),
  );

const listObjects = (org: TestOrg, hasProblem: boolean) =>
  selectIn(deps.db, toOrgId(org.id))`
    select object_key as key, problem from log_folder_objects where problem is not null or ${!hasProblem} order by 1`;

async function putObject(key: string, body: Buffer): Promise<void> {
  const address = parseLogsUrl(storage.url) as BucketAddress;
  const client = openS3Client(address, 3);
  await client.send(new PutObjectCommand({ Bucket: address.bucket, Key: `${address.prefix}${key}`, Body: body }));
  client.destroy();
}

/** Writes a file that has not changed for a minute. */
function writeSettled(path: string, content: Buffer): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  utimesSync(path, now, new Date(now.getTime() - 60_000));
}

test('stores the events of a bucket once, each object once and each event ID once', async () => {
  const org = await newOrg();
  for (const [key, body] of Object.entries(files)) await putObject(key, body);
  const settings = settingsFor(storage.url, org);
  await Promise.all([pull(settings), pull(settings)]);
  expect(await countEvents(org)).toEqual({ cloudtrail: 3 });
  const before = storage.requests.length;
  await pull(settings);
  // Only lists: no object is read a second time.
  expect(storage.requests.length - before).toBeLessThan(20);
  expect(await listObjects(org, true)).toEqual([
    { key: `AWSLogs/1/CloudTrail/eu-west-1/${day}/broken.json.gz`, problem: expect.stringContaining('gzip') },
  ]);

  await putObject(`AWSLogs/1/CloudTrail/eu-north-1/${day}/c.json.gz`, records([4]));
  await pull(settings);
  expect(await countEvents(org)).toEqual({ cloudtrail: 4 });
  // As after a crash between storing the events and recording the object.
  await selectIn(deps.db, toOrgId(org.id))`delete from log_folder_objects`;
  await pull(settings);
  expect(await countEvents(org)).toEqual({ cloudtrail: 4 });
});

test('continues after the storage failed', async () => {
  const org = await newOrg();
  await putObject(`again/${day}/a.json.gz`, records([1, 2]));
  const settings = settingsFor(storage.url.replace('tocsin', 'tocsin/again'), org);
  storage.fail('GET', 'truncated', 1);
  await pull(settings).catch(() => undefined);
  await pull(settings);
  expect(await countEvents(org)).toEqual({ cloudtrail: 2 });
});

test('reads flow logs of a folder of this machine, without files that are still being written', async () => {
  const org = await newOrg();
  const root = newDataDir();
  const text = (...flows: string[]) => gzipSync(['start srcaddr action', ...flows, ''].join('\n'));
  const at = Math.floor(now.getTime() / 1000);
  writeSettled(join(root, day, 'a.log.gz'), text(`${at} 192.0.2.1 ACCEPT`, `${at} 192.0.2.2 REJECT`));
  writeSettled(join(root, day, 'flows.parquet'), Buffer.from('PAR1...'));
  writeFileSync(join(root, day, 'growing.log'), 'start srcaddr action\n');
  const settings = settingsFor(root, org, { format: 'vpc-flow' });
  await pull(settings);
  await pull(settings);
  expect(await countEvents(org)).toEqual({ vpcflow: 2 });
  expect(await listObjects(org, false)).toEqual([
    { key: `${day}/a.log.gz`, problem: null },
    { key: `${day}/flows.parquet`, problem: expect.stringContaining('Parquet') },
  ]);
  rmSync(root, { recursive: true });
});

test('fails clearly for a key without the right, a bucket that does not exist and a missing folder', async () => {
  const org = await newOrg(['hits:read']);
  await expect(pull(settingsFor(storage.url, org))).rejects.toThrow('lacks the scope logs:write');
  const writer = await newOrg();
  await expect(pull(settingsFor(storage.url.replace('//logs', '//nothing-here'), writer))).rejects.toThrow(/bucket/i);
  await expect(pull(settingsFor('/does-not-exist-anywhere', writer))).rejects.toThrow('/does-not-exist-anywhere');
});

test.each([
  [{ location: 'logs/', format: 'cloudtrail', key: 'k'.repeat(20) }, 'a.location: must be file: or begin with s3://'],
  [{ location: 'file:', format: 'cloudtrail', key: 'k'.repeat(20) }, 'a.location: must be the absolute path'],
  [{ location: '/logs', format: 'waf', key: 'k'.repeat(20) }, 'a.format'],
  [{ location: '/logs', format: 'cloudtrail' }, 'a.key'],
  [{ location: '/logs', format: 'cloudtrail', key: 'k'.repeat(20), days: 0 }, 'a.days'],
])('rejects the settings %j', (folder, message) => {
  expect(() => readFolderSettings(JSON.stringify({ a: folder }))).toThrow(message);
});
