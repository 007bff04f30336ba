import { expect, test } from 'vitest';
import type { ParseResult } from '../source-format.ts';
import { draftStix, stix } from './stix.ts';
import { buildDrafts } from '../read-parts.ts';

const time = '2026-03-02T10:00:00.000Z';
const idOf = (type: string, number: number): string =>
  `${type}--5e0f1a2b-0000-4000-8000-${String(number).padStart(12, '0')}`;
const object = (type: string, number: number, more: object = {}) => ({
  type,
  id: idOf(type, number),
  created: time,
  modified: time,
  ...more,
});
const indicator = (number: number) =>
  object('indicator', number, { pattern: `[domain-name:value = 'bad${number}.example']`, pattern_type: 'stix' });
const note = (number: number, content: string, ...object_refs: string[]) => ({
  ...object('note', number, { object_refs }),
  content,
});
const toPart = (...objects: object[]) => ({
  name: 'x',
  bytes: Buffer.from(JSON.stringify({ type: 'bundle', id: idOf('bundle', 1), objects })),
});
const parse = (...objects: object[]): ParseResult => stix.parse([toPart(...objects)], { reliability: 0.6 });

test.each(['grouping', 'report'])('a note belongs to the %s that it refers to, or to the objects of it', (type) => {
  const head = object(type, 1, { name: 'A case', object_refs: [idOf('indicator', 2)] });
  const onHead = note(3, 'Acme Bank was hit by ransomware. It was noticed late.', idOf(type, 1));
  const { records, skipped } = parse(
    head,
    indicator(2),
    onHead,
    note(4, 'Seen twice.', idOf('indicator', 2)),
    object('opinion', 5, { opinion: 'agree', explanation: 'So it was.', object_refs: [idOf('note', 4)] }),
  );
  expect(records).toMatchObject([
    { title: 'A case', abstract: onHead.content, tldr: 'Acme Bank was hit by ransomware.', iocs: { domains: [{}] } },
  ]);
  const [first] = records[0]!.passages;
  expect(records[0]!.storedText.slice(first!.start, first!.end)).toBe(onHead.content);
  expect(records[0]!.storedText).toContain('content: Seen twice.');
  // Nothing contains what this opinion is about but the note.
  expect(skipped).toEqual([{ entry: idOf('opinion', 5), reason: 'no item refers to this opinion' }]);
});

test('prefers the description of a report to the notes on it', () => {
  const head = object('report', 1, {
    name: 'A case',
    description: 'Its own words.',
    object_refs: [idOf('indicator', 2)],
  });
  expect(parse(head, indicator(2), note(3, 'Other words.', head.id)).records).toMatchObject([
    { abstract: 'Its own words.' },
  ]);
});

test('a note on malware or on indicators outside of reports belongs to their items', () => {
  const malware = object('malware', 1, { name: 'Emotet' });
  const objects = [
    malware,
    note(3, 'On malware.', malware.id),
    indicator(2),
    note(4, 'On a domain.', idOf('indicator', 2)),
  ];
  const { records, skipped } = parse(...objects);
  expect(skipped).toEqual([]);
  expect(records.map(({ storedText }) => [/On malware/.test(storedText), /On a domain/.test(storedText)])).toEqual([
    [true, false],
    [false, true],
  ]);
  const each = buildDrafts(draftStix([toPart(...objects)], { reliability: 0.6 }, 'each'));
  expect(each.skipped).toEqual([]);
  expect(each.records.map(({ abstract }) => abstract)).toEqual(['On malware.', 'On a domain.']);
});

test('skips a note on nothing that the document contains', () => {
  const { skipped } = parse(indicator(2), note(3, 'Lost.', idOf('indicator', 9)));
  expect(skipped).toEqual([{ entry: idOf('note', 3), reason: 'no item refers to this note' }]);
});
