import fc from 'fast-check';
import { afterEach, expect, test, vi } from 'vitest';
import { emptyIocs, parseInstant, removeUnbelievableDates, removeUnbelievableTime } from './source-record.ts';
import { buckets } from './vocabulary.ts';
import { mispAttribute, mispEvent } from '../../../test/support/feed/misp-documents.ts';
import { misp } from '../formats/misp/misp.ts';
import { stix } from '../formats/stix/stix.ts';

afterEach(() => vi.unstubAllEnvs());

test.each([
  ['2024-01-01T10:00:00.000', '2024-01-01T10:00:00.000Z'],
  ['2024-01-01 10:00:00', '2024-01-01T10:00:00.000Z'],
  [' 2024-01-01T10:00 ', '2024-01-01T10:00:00.000Z'],
  ['2024-01-01', '2024-01-01T00:00:00.000Z'],
  ['2024-01-01T10:00:00+05:30', '2024-01-01T04:30:00.000Z'],
  ['2024-01-01T10:00:00Z', '2024-01-01T10:00:00.000Z'],
  ['soon', undefined],
  [1704067200, undefined],
])('%s in another zone than UTC', (value, expected) => {
  vi.stubEnv('TZ', 'America/New_York');
  expect(new Date(0).getHours()).toBe(19);
  expect(parseInstant(value)).toBe(expected);
});

test('reads every time in UTC like the language does', () => {
  const part = (max: number): fc.Arbitrary<string> => fc.nat({ max }).map((n) => String(n).padStart(2, '0'));
  fc.assert(
    fc.property(
      fc.tuple(fc.integer({ min: 1895, max: 2105 }), part(13), part(32), part(25), part(61), part(61)),
      fc.constantFrom('', '.5', '.123', '.123456'),
      ([year, month, day, hour, minute, second], fraction) => {
        const text = `${year}-${month}-${day}T${hour}:${minute}:${second}${fraction}Z`;
        const time = Date.parse(text);
        expect(parseInstant(text)).toBe(Number.isNaN(time) ? undefined : new Date(time).toISOString());
      },
    ),
    { numRuns: 2_000 },
  );
});

test('has a list for each bucket, in their order', () => {
  expect(Object.keys(emptyIocs())).toEqual(buckets);
});

const now = new Date('2024-02-01T00:00:00.000Z');
const read = (more: Record<string, unknown>) =>
  removeUnbelievableDates(
    misp.parse([{ name: 'a', bytes: Buffer.from(JSON.stringify(mispEvent('a', more))) }], { reliability: 0.6 })
      .records[0]!,
    now,
  );

test.each([
  ['2024-01-01', '2024-01-01T00:00:00.000Z'],
  // A publisher's clock may be ahead by a time zone.
  ['2024-02-02', '2024-02-02T00:00:00.000Z'],
  ['1999-05-01', '1999-05-01T00:00:00.000Z'],
  // The time of the last change instead.
  ['2099-01-01', '2024-01-01T00:00:00.000Z'],
  ['1970-01-01', '2024-01-01T00:00:00.000Z'],
  ['1980-01-01', '2024-01-01T00:00:00.000Z'],
])('an event of %s is published at %s', (date, publishTime) => {
  expect(read({ date }).publishTime).toBe(publishTime);
});

test('believes no time of a change or a sighting in the future', () => {
  const attribute = mispAttribute('domain', 'bad.example', { first_seen: '1970-01-01', last_seen: '2099-01-01' });
  const record = read({ timestamp: '4070908800', date: '2099-01-01', Attribute: [attribute] });
  expect(record).toMatchObject({ publishTime: undefined, modifiedAt: undefined, eventFirstSeen: undefined });
  expect(record.iocs.domains[0]).not.toHaveProperty('firstSeen');
  expect(record.iocs.domains[0]).not.toHaveProperty('lastSeen');
});

test('dates a bundle by its newest object with a believable date', () => {
  const indicator = (number: number, created: string) => ({
    type: 'indicator',
    id: `indicator--0000000${number}-0000-4000-8000-000000000000`,
    created,
    modified: created,
    pattern: `[domain-name:value = 'evil-${number}.top']`,
  });
  const objects = [indicator(1, '2024-01-01T00:00:00.000Z'), indicator(2, '2099-01-01T00:00:00.000Z')];
  const part = { name: 'a', bytes: Buffer.from(JSON.stringify({ type: 'bundle', objects })) };
  const [record] = stix.parse([part], { reliability: 0.6, now }).records;
  expect(record).toMatchObject({ publishTime: '2024-01-01T00:00:00.000Z', modifiedAt: '2024-01-01T00:00:00.000Z' });
});

test('gives a text no impossible date', () => {
  const text = { recordId: 'a', title: 'T', publishTime: '2099-01-01T00:00:00.000Z' };
  expect(removeUnbelievableTime(text, now)).toEqual({ ...text, publishTime: undefined });
});
