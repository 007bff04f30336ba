import { afterAll, beforeAll, expect, test } from 'vitest';
import { openSampleEngine, type SampleEngine } from '../../../demo/sample-engine.ts';

const id = (name: string) => ({ eventID: name, '@timestamp': '2030-01-07T10:00:00.000Z' });
const image = 'C:\\Windows\\System32\\cmd.exe';

/** One process start in every shape that `winlog` reads. */
const shapes: Record<string, Record<string, unknown>> = {
  'flat Sysmon': { EventID: 1, Computer: 'A', Image: image, User: 'X\\u' },
  'flat Security 4688': { EventID: '1', Hostname: 'A', NewProcessName: image, SubjectUserName: 'X\\u', User: '-' },
  Winlogbeat: { winlog: { event_id: 1, computer_name: 'A', event_data: { Image: image, User: 'X\\u' } } },
  'Winlogbeat with ECS names': {
    event: { code: '1' },
    host: { name: 'A' },
    process: { executable: image },
    user: { name: 'X\\u' },
  },
  'EVTX as JSON': {
    Event: { System: { EventID: { '#text': 1 }, Computer: 'A' }, EventData: { Image: image, User: 'X\\u' } },
  },
  'EVTX without a root': {
    System: { EventID: 1, Computer: 'A' },
    EventData: { NewProcessName: image, SubjectUserName: 'X\\u' },
  },
};

let engine: SampleEngine;
beforeAll(async () => {
  const events = Object.entries(shapes).map(([name, event]) => ({
    dataset: 'windows',
    event: { ...event, ...id(name) },
  }));
  engine = await openSampleEngine(events);
});
afterAll(() => engine.close());

test.each(Object.keys(shapes))('reads fields of %s', async (name) => {
  const rows = await engine.run(
    `SELECT winlog(_event, 'Image') AS image, winlog(_event, 'User') AS u, winlog(_event, 'Computer') AS host,
            winlog(_event, 'EventID') AS id, winlog(_event, 'TargetImage') AS missing FROM windows WHERE _id = '${name}'`,
  );
  expect(rows).toMatchObject([{ image, u: 'X\\u', host: 'A', missing: null }]);
  expect(String(rows[0]!['id'])).toContain('1');
});

test.each([
  ['vssadmin delete', 'vssadmin delete'],
  ['"C:\\a b\\x.exe" -enc', '"C:\\a b\\x.exe" -enc'],
  ['vss""admin d^el', 'vss""admin d^el vssadmin del'],
  ['vss"a"dmin', 'vss"a"dmin vssadmin'],
  ['x \u2013enc \u2014a \u2015b `c', 'x \u2013enc \u2014a \u2015b `c x -enc -a -b c'],
])('reads the command %s without what hides its words', async (command, plain) => {
  const rows = await engine.run(
    `SELECT plain_command('${command}') AS plain, plain_command(NULL) AS missing FROM windows LIMIT 1`,
  );
  expect(rows).toMatchObject([{ plain, missing: null }]);
});
