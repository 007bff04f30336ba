import { expect, test } from 'vitest';
import { parseLogsUrl } from './logs-url.ts';

const aws = { endpoint: undefined, region: undefined };

test.each([
  ['file:', null],
  ['s3://logs', { bucket: 'logs', prefix: '', ...aws }],
  ['s3://logs/', { bucket: 'logs', prefix: '', ...aws }],
  ['s3://logs/a/b/?region=eu-west-1', { bucket: 'logs', prefix: 'a/b/', ...aws, region: 'eu-west-1' }],
  [
    's3://my.logs/a?endpoint=http://[::1]:9000',
    { bucket: 'my.logs', prefix: 'a/', ...aws, endpoint: 'http://[::1]:9000' },
  ],
])('reads %s', (text, expected) => {
  expect(parseLogsUrl(text)).toEqual(expected);
});

test.each([
  ['/var/logs', /must be file: or begin with s3:/],
  ['s3:///prefix', /must name a bucket/],
  ['s3://Logs_1/prefix', /must name a bucket/],
  ['s3://key:secret@logs', /must not contain credentials/],
  ['s3://logs?acl=public', /unknown parameter acl/],
  ['s3://logs?endpoint=minio:9000', /endpoint that begins with http/],
])('rejects %s', (text, message) => {
  expect(parseLogsUrl(text)).toMatch(message);
});
