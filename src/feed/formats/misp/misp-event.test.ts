import { expect, test } from 'vitest';
import { buckets } from '../../model/vocabulary.ts';
import type { SourceRecord } from '../../model/source-record.ts';
import { mispAttribute, mispEvent, mispId } from '../../../../test/support/feed/misp-documents.ts';
import { misp } from './misp.ts';

const parse = (document: unknown) =>
  misp.parse([{ name: 'event.json', bytes: Buffer.from(JSON.stringify(document)) }], { reliability: 0.6 });
const read = (more: Record<string, unknown> = {}): SourceRecord => parse(mispEvent('a', more)).records[0]!;
const indicators = (record: SourceRecord): string[] =>
  buckets.flatMap((bucket) => record.iocs[bucket].map(({ type, value }) => `${bucket} ${type} ${value}`));
const others = (record: SourceRecord): string[] =>
  record.classification.mappings.map(({ framework, id }) => `${framework} ${id}`);

test('takes the summary from the report object, the excerpt of an analysis or the event report, and reads it', () => {
  const excerpt = 'Emotet was dropped by a campaign that began in March, as analysts of a vendor describe.';
  const analysis = mispAttribute('text', excerpt, { category: 'External analysis', to_ids: false });
  const summary = mispAttribute('text', `${excerpt} It ended in May.`, { object_relation: 'summary' });
  const EventReport = [{ name: 'R', content: `# Title\n\n@[attribute](${mispId('x')})\nReport about Emotet.` }];
  const Object = [{ name: 'report', Attribute: [summary] }];
  const Attribute = [mispAttribute('text', 'too short', { category: 'External analysis' }), analysis];
  expect(read({ Attribute, Object, EventReport }).summary).toBe(`${excerpt} It ended in May.`);
  const record = read({ Attribute, Object: [], EventReport });
  expect(record).toMatchObject({ summary: excerpt, classification: { malware: [{ name: 'Emotet' }] } });
  expect(read({ Attribute: [], Object: [], EventReport }).summary).toBe('Report about Emotet.');
  expect(read({ Attribute: [], Object: [] }).summary).toBeUndefined();
});

test('reads the names in the title of an event without galaxies', () => {
  const namesOf = (more: object) =>
    read({ info: 'Emotet in March', Tag: [], Galaxy: [], Attribute: [], Object: [], ...more }).classification.malware;
  expect(namesOf({})).toMatchObject([{ name: 'Emotet' }]);
  expect(namesOf({ Tag: [{ name: 'malware:qakbot' }] })).toMatchObject([{ name: 'QakBot' }]);
});

test('reads actors and techniques of attributes with their passages', () => {
  const record = read({
    Tag: [],
    Attribute: [mispAttribute('threat-actor', 'Fancy Bear', { category: 'Attribution' })],
    Object: [{ name: 'attack-pattern', Attribute: [mispAttribute('text', 'T1059.001', { object_relation: 'id' })] }],
  });
  expect(record.classification.actor).toMatchObject([{ name: 'APT28' }]);
  expect(record.classification.attack).toMatchObject([{ technique: 'T1059', subTechnique: 'T1059.001' }]);
  const texts = record.passages.map(({ start, end }) => record.storedText.slice(start, end));
  expect(texts).toEqual(
    expect.arrayContaining(['Attribute[0].value: Fancy Bear', 'Object[0].Attribute[0].value: T1059.001']),
  );
});

test('reads the names in objects of malware and actors, but not in deleted attributes', () => {
  const named = (name: string, relation: string, value: string, more: object = {}) => ({
    name,
    Attribute: [mispAttribute('text', value, { object_relation: relation, to_ids: false, ...more })],
  });
  const { classification } = read({
    Tag: [],
    Attribute: [mispAttribute('threat-actor', 'Turla', { deleted: true })],
    Object: [
      named('malware', 'name', 'Zzbot'),
      named('malware', 'name', 'Emotet', { deleted: true }),
      named('intrusion-set', 'name', 'Fancy Bear'),
    ],
  });
  expect(classification.malware.map(({ name }) => name)).toEqual(['Zzbot']);
  expect(classification.actor.map(({ name }) => name)).toEqual(['APT28']);
});

test('does not take the victim, the posts of analysts, registrations and parts of files for indicators', () => {
  const hash = 'd'.repeat(32);
  const part = (relation: string, type: string, value: string, more: object = {}) =>
    mispAttribute(type, value, { object_relation: relation, ...more });
  const record = read({
    Attribute: [
      mispAttribute('url', 'https://cases.bad.example/1', { category: 'Internal reference', to_ids: false }),
      mispAttribute('ip-dst', '198.51.101.9', { category: 'Targeting data', to_ids: false }),
    ],
    Object: [
      { name: 'victim', Attribute: [part('domain', 'domain', 'victim.example')] },
      {
        name: 'microblog',
        Attribute: [
          part('url', 'url', 'https://posts.example/1'),
          part('embedded-link', 'url', 'http://bad.example/x'),
        ],
      },
      { name: 'whois', Attribute: [part('nameserver', 'hostname', 'ns1.registrar.example')] },
      { name: 'pe-section', Attribute: [part('md5', 'md5', hash)] },
      { name: 'pe', Attribute: [part('original-filename', 'filename', 'setup.exe'), part('richpe', 'md5', hash)] },
    ],
  });
  expect(indicators(record)).toEqual(['urls url http://bad.example/x']);
  expect(others(record)).toEqual([
    'observable:name-server ns1.registrar.example',
    `observable:section-hash ${hash}`,
    'observable:original-filename setup.exe',
    `observable:richpe ${hash}`,
  ]);
});

test('ends the validity of a value with a sighting of its expiration, unless it was seen later', () => {
  const seen = (...sightings: [string, string][]) =>
    mispAttribute('domain', `zq${sightings.length}.bad.example`, {
      Sighting: sightings.map(([type, date_sighting]) => ({ type, date_sighting })),
    });
  const day = 86_400;
  const at = (days: number): string => String(1_704_067_200 + days * day);
  const record = read({ Attribute: [seen(['2', at(10)]), seen(['2', at(10)], ['0', at(20)])], Object: [] });
  expect(record.iocs.domains.map(({ ttlDays }) => ttlDays)).toEqual([10, 180]);
});

test('reads an event without its wrapper', () =>
  expect(parse(mispEvent('a').Event).records[0]!.title).toBe('Campaign a'));

test('counts attributes without a type or a value, and reads numbers', () => {
  const Attribute = [mispAttribute('domain', 'bad.top'), { type: 'domain', value: ['x.top'] }, 'x', { type: 'domain' }];
  const parsed = parse(mispEvent('a', { Attribute: [...Attribute, { type: 'AS', value: 64500 }], Object: ['x'] }));
  expect(indicators(parsed.records[0]!)).toEqual(['domains domain bad.top']);
  expect(others(parsed.records[0]!)).toContain('observable:AS 64500');
  expect(parsed.skipped).toEqual([{ entry: `4 attributes of ${mispId('a')}`, reason: 'have no valid type and value' }]);
});

test('accepts flags as values', () => {
  const flag = { ...mispAttribute('boolean', '', { object_relation: 'is_family' }), value: false };
  expect(parse(mispEvent('a', { Object: [{ name: 'malware', Attribute: [flag] }] })).skipped).toEqual([]);
});
