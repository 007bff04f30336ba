import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { createTestFolder } from '../../test/support/detection/log-store.ts';
import { readRecordedLogs } from './recorded-logs.ts';

const end = new Date('2024-06-01T12:00:00.000Z');
const events = [1, 2, 3].map((n) => ({ n, time: `2024-01-01T00:00:00.00000${n}Z`, deep: { texts: ['{', '}\n'] } }));
const indented = JSON.stringify(events, null, 2);

test.each<[name: string, file: string, content: string | Buffer]>([
  ['lines', 'a.ndjson', events.map((event) => JSON.stringify(event)).join('\n')],
  ['an indented list', 'a.json', indented],
  ['a compressed indented list', 'a.json.gz', gzipSync(indented)],
  [
    'indented objects after each other',
    'a.json',
    events.map((event) => JSON.stringify(event, null, '\t')).join('\r\n'),
  ],
  ['an indented envelope', 'a.json', JSON.stringify({ Records: events }, null, 2)],
  ['an indented envelope of another source', 'a.json', JSON.stringify({ value: events }, null, 4)],
])('reads %s', (_name, file, content) => {
  const folder = createTestFolder();
  mkdirSync(join(folder, 'web'));
  writeFileSync(join(folder, 'web', file), content);
  writeFileSync(join(folder, 'web', 'damaged.json'), '[{"time": "2024-01-01T00:00:00Z"');
  expect(readRecordedLogs(folder, end).map(({ dataset, event }) => [dataset, event['n'], event['time']])).toEqual(
    [1, 2, 3].map((n) => ['web', n, `2024-06-01T11:59:59.99900${n}Z`]),
  );
});

test('rejects a folder without events in one sentence', () => {
  expect(() => readRecordedLogs(createTestFolder(), end)).toThrow(/^No log events .*\.$/);
});
