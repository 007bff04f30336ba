import { expect, test } from 'vitest';
import { osvRecord } from '../../../../test/support/feed/osv-documents.ts';
import type { SourceRecord } from '../../model/source-record.ts';
import { osv } from './osv.ts';

const read = (summary: string): SourceRecord =>
  osv.parse([{ name: 'x', bytes: Buffer.from(JSON.stringify(osvRecord('RSEC-2024-1', { summary }))) }], {
    reliability: 0.8,
  }).records[0]!;

test('names the package in a title that only says what kind of flaw it is, and the publishers of databases', () => {
  expect(read('Memory leak vulnerability')).toMatchObject({
    title: 'thing: Memory leak vulnerability',
    publisher: 'R Consortium',
  });
  expect(read('Memory leak in thing').title).toBe('Memory leak in thing');
  expect(read('A memory leak of the parser').title).toBe('A memory leak of the parser');
});
