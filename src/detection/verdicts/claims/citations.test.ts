import { describe, expect, test } from 'vitest';
import { caseOf, medium, observationOf } from '../../../../test/support/detection/verdict-examples.ts';
import type { Facts } from '../../analysis/candidate.ts';
import type { Citation } from '../verdict.ts';
import type { CitableHit } from './case-file.ts';
import { resolveCitation } from './citations.ts';

const hit = (fields: Partial<CitableHit>): CitableHit => ({
  id: 'h1',
  detection: 'Sign-ins',
  severity: 'low',
  status: 'benign',
  isReviewed: true,
  reason: 'planned',
  lastSeenAt: '2024-01-01T00:00:00.000Z',
  ...fields,
});
const found = observationOf('o1', { user: 'mallory', n: '0' });
const file = caseOf(medium, {
  observations: [
    {
      ...found,
      columns: [
        { name: 'user', kind: 'value' },
        { name: 'n', kind: 'count' },
      ],
    },
    { ...found, id: 'o2', isTrusted: true, query: null, source: 'outside' },
    { ...found, id: 'o3', query: null, source: 'outside' },
  ],
  notes: [{ id: 'n1', entity: 'alice', note: 'On call this week.' }],
  entries: [{ list: 'admins', entry: 'ali*' }],
  items: [{ id: 'i1', indicator: '192.0.2.7', title: 'A partner of ours' }],
  documents: [{ name: 'runbook', content: 'Keys are rotated on the first.' }, { name: 'empty' }],
});
const cell = (observation: string, rowId: string, field: string, value: string): Citation => ({
  observation,
  rowId,
  field,
  value,
});

test.each<[string, Citation, string, boolean]>([
  ['a row', cell('rows', 'e1', 'host', 'web-01'), 'if-established', true],
  ['a row of a search', cell('o1', 'r1', 'user', 'mallory'), 'if-established', true],
  ['a result of a trusted tool', cell('o2', 'r1', 'user', 'mallory'), 'proves', false],
  ['a result of any other tool', cell('o3', 'r1', 'user', 'mallory'), 'none', false],
  ['a figure of a search', { observation: 'o1', column: 'n', value: '0' }, 'none', true],
  ['a note', { note: 'n1' }, 'proves', false],
  ['an entry of a list', { list: 'admins', entry: 'ali*' }, 'proves', false],
  ['a document', { document: 'runbook', quote: 'rotated on the first' }, 'proves', false],
  ['a feed item', { item: 'i1', quote: 'A partner of ours' }, 'none', false],
  ['a fact', { fact: 'rows' }, 'none', false],
])('%s', (_name, citation, proof, isEvent) => {
  expect(resolveCitation(citation, file)).toMatchObject({ cell: { proof, isEvent } });
});

test.each<[string, Partial<CitableHit>, string]>([
  ['a person judged as benign', {}, 'proves'],
  ['a person judged as a false positive', { status: 'false_positive' }, 'proves'],
  ['a person judged as a true positive', { status: 'true_positive' }, 'none'],
  ['nobody judged', { isReviewed: false }, 'none'],
  ['that is open', { status: 'open' }, 'none'],
])('a hit that %s', (_name, fields, proof) => {
  expect(resolveCitation({ hit: 'h1' }, { ...file, hits: [hit(fields)] })).toMatchObject({ cell: { proof } });
});

test.each<[string, Facts, string]>([
  ['recurredDays', { recurredDays: 9, recurs: true }, 'proves'],
  ['recurredPeers', { recurredPeers: 9, recurs: true }, 'proves'],
  ['recurredDays', { recurredDays: 9, recurs: false }, 'none'],
  ['recurs', { recurredDays: 9, recurs: true }, 'none'],
])('the fact %s of %j', (fact, facts, proof) => {
  expect(resolveCitation({ fact }, { ...file, facts })).toMatchObject({ cell: { proof } });
});

describe('refuses', () => {
  test.each<[string, Citation, string]>([
    ['a part of an address', cell('rows', 'e1', 'ip', '192.0.2'), 'a different value'],
    ['a short part', cell('rows', 'e1', 'note', 'one hour'.slice(0, 7)), 'a different value'],
    ['an empty value', cell('rows', 'e1', 'ip', ' '), 'a different value'],
    ['a field of the prototype', cell('rows', 'e1', 'constructor', 'x'), 'does not have this field'],
    ['a fact of the prototype', { fact: 'constructor' }, 'no such fact'],
    ['an aggregate of a plain column', { observation: 'o1', column: 'user', value: 'mallory' }, 'no figure'],
    ['a figure of the rows', { observation: 'rows', column: 'n', value: '1' }, 'no such observation'],
    ['another figure', { observation: 'o1', column: 'n', value: '1' }, 'a different value'],
    ['an unknown hit', { hit: 'h2' }, 'no such earlier hit'],
    ['an entry of another list', { list: 'others', entry: 'ali*' }, 'does not have this entry'],
    ['a document without content', { document: 'empty', quote: 'rotated on the first' }, 'no such document'],
    ['a title that the item does not have', { item: 'i1', quote: 'A partner of theirs' }, 'does not say this'],
  ])('%s', (_name, citation, problem) => {
    expect(resolveCitation(citation, file)).toEqual({ problem: expect.stringContaining(problem) });
  });
});

test('cites a part of a long value, and events behind an aggregate row by their own IDs', () => {
  expect(resolveCitation(cell('rows', 'e1', 'note', 'the night shift'), file)).toMatchObject({
    cell: { value: 'the night shift', text: 'opened by the night shift for one hour' },
  });
  const rows = [{ ...medium.rows[0]!, eventIds: ['x1', 'x2'] }];
  expect(
    resolveCitation(cell('rows', 'x2', 'host', 'web-01'), { ...file, candidate: { ...medium, rows } }),
  ).toHaveProperty('cell');
});
