import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createStoredText } from '../../../src/feed/extraction/text/stored-text.ts';
import { cutSegments, findMentions, type Mark } from '../../../web/src/lib/passages.ts';
import { markFields, type Field } from '../../../web/src/lib/structured/fields.ts';
import { readRecords } from '../../../web/src/lib/structured/read-records.ts';
import { arrangeFields } from '../../../web/src/lib/structured/sections.ts';

const store = (...objects: object[]): string => {
  const text = createStoredText();
  for (const object of objects) text.addFields(object);
  return text.text();
};
const show = ({ path, value }: Field): string => `${path.join('.')}=${value}`;
const read = (text: string): string[][] | undefined => readRecords(text)?.map((fields) => fields.map(show));

/** The pieces of the values that a mark contains. */
const markedIn = (text: string, mark: Mark): string[] => {
  const byField = markFields(readRecords(text)!.flat(), [mark]);
  return [...byField].flatMap(([{ value }, marks]) =>
    cutSegments(value, marks)
      .filter(({ keys }) => keys.length > 0)
      .map((segment) => segment.text),
  );
};

const indicator = { type: 'indicator', id: 'indicator--1', pattern: "[domain-name:value = 'a.example']", name: '' };

test.each([
  [
    'objects one after the other',
    store(indicator, indicator),
    [
      ['type=indicator', 'id=indicator--1', `pattern=${indicator.pattern}`],
      ['type=indicator', 'id=indicator--1', `pattern=${indicator.pattern}`],
    ],
  ],
  [
    'nested fields and lists',
    store({ uuid: 'u', Tag: [{ name: 'tlp:red' }], hosts: ['a', 'b'], Orgc: { name: 'CERT' } }),
    [['uuid=u', 'Tag.0.name=tlp:red', 'hosts=a, b', 'Orgc.name=CERT']],
  ],
  [
    'a value of several lines',
    store({ id: 'r', description: 'One.\n\nNote: two.', lang: 'en' }),
    [['id=r', 'description=One.\n\nNote: two.', 'lang=en']],
  ],
  [
    'a bundle',
    '{"type":"bundle","objects":[{"id":"a","n":1,"x":null},{"id":"b","l":["c",true]}]}',
    [
      ['id=a', 'n=1'],
      ['id=b', 'l.0=c', 'l.1=true'],
    ],
  ],
  ['a list of objects', '[{"id":"a"},{"id":"b"}]', [['id=a'], ['id=b']]],
  ['a document', '{"Event":{"info":"x","Tag":[{"name":"t"}]}}', [['Event.info=x', 'Event.Tag.0.name=t']]],
  ['escapes', String.raw`{"a":"1\n2\u0041\/\"","b":"\ud83d\ude00"}`, [['a=1\n2A/"', 'b=😀']]],
])('reads %s', (_, text, expected) => {
  expect(read(text)).toEqual(expected);
});

test.each([
  ['prose', 'On Monday: an attack.\nIt was noticed.'],
  ['prose that begins like a field', 'note: an attack\nIt was noticed.'],
  ['cut JSON', '{"id":"a","description":"One'],
  ['JSON with a remark', '{"id":"a"} // a'],
  ['a JSON scalar', '"a"'],
  ['JSON that is nested too deep', '['.repeat(200_000) + ']'.repeat(200_000)],
  ['nothing', ''],
])('leaves %s as it is', (_, text) => {
  expect(readRecords(text)).toBeNull();
});

test.each([
  ['a value of a line', store({ id: 'r', description: 'see a.example now' }), 'a.example', ['a.example']],
  ['a value after escapes', String.raw`{"d":"\u00e9\n\"a.example\" now"}`, 'a.example', ['a.example']],
  ['a value across two fields', '{"a":"one","b":"two"}', 'ne","b":"t', ['ne', 't']],
  ['half of an escape', String.raw`{"a":"x\u0041y"}`, '0041y', ['Ay']],
  ['half of a character', String.raw`{"a":"x\ud83d\ude00y"}`, String.raw`\ude00y`, ['😀y']],
  ['a name alone', '{"evil":"x"}', 'evil', []],
])('marks %s', (_, text, marked, expected) => {
  const start = text.indexOf(marked);
  expect(markedIn(text, { key: 'k', start, end: start + marked.length })).toEqual(expected);
});

test('gives every value of a JSON document the place that it has in the text', () => {
  const word = fc.string({ unit: 'binary', minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(word, word, word, (before, wanted, after) => {
      const text = JSON.stringify({ id: before, d: before + wanted + after });
      const escaped = JSON.stringify(wanted).slice(1, -1);
      const start = text.lastIndexOf(`${escaped}${JSON.stringify(after).slice(1)}`);
      const [marked] = markedIn(text, { key: 'k', start, end: start + escaped.length });
      expect(marked).toContain(wanted);
    }),
  );
});

test('finds a mention of a stored document in the value that contains it', () => {
  const text = store(indicator, { ...indicator, pattern: "[domain-name:value = 'b.example']" });
  const [mention] = findMentions(text, 'k', 'b.example');
  expect(markedIn(text, mention!)).toEqual(['b.example']);
});

test('arranges fields by list element and puts identifiers aside, except for those that are needed', () => {
  const uuid = 'identity--23d3db6a-c189-41e8-b15e-e3dfa565d49f';
  const [fields] = readRecords(
    store({
      type: 'attack-pattern',
      spec_version: '2.1',
      created_by_ref: uuid,
      name: 'Additional Cloud Roles',
      kill_chain_phases: [{ phase_name: 'persistence' }],
      external_references: [{ source_name: 'mitre-attack', external_id: 'T1098.003' }],
      x_mitre_data_sources: [
        { name: 'Logs', component: 'Calls' },
        { name: 'Users', component: 'Changes' },
      ],
      id: uuid,
    }),
  )!;
  const arrange = (isNeeded: (field: Field) => boolean) => {
    const { sections, minor } = arrangeFields(fields!, isNeeded);
    return {
      sections: sections.map(({ title, entries }) => [title, ...entries.map(({ label }) => label)]),
      minor: minor.map(({ label }) => label),
    };
  };
  const phase = 'Kill chain phases phase name';
  const lists = [
    ['External references', 'Source name', 'External ID'],
    ['X mitre data sources 1', 'Name', 'Component'],
    ['X mitre data sources 2', 'Name', 'Component'],
  ];
  expect(arrange(() => false)).toEqual({
    sections: [['Attack pattern', 'Name', phase], ...lists],
    minor: ['Type', 'Spec version', 'Created by ref', 'ID'],
  });
  expect(arrange(({ path }) => path[0] === 'id')).toEqual({
    sections: [['Attack pattern', 'Name', 'ID', phase], ...lists],
    minor: ['Type', 'Spec version', 'Created by ref'],
  });
});
