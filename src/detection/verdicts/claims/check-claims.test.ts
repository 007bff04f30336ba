import { expect, test } from 'vitest';
import { caseOf, good, medium } from '../../../../test/support/detection/verdict-examples.ts';
import type { Observation } from '../observation.ts';
import type { Citation, Claim } from '../verdict.ts';
import { checkClaims } from './check-claims.ts';

const fact = (text: string, ...cites: Citation[]): Claim => ({ text, kind: 'fact', cites });
const cell = (rowId: string, field: string, value: string, observation = 'rows'): Citation => ({
  observation,
  rowId,
  field,
  value,
});
const observed: Observation = {
  id: 'o1',
  tool: 'count_by',
  input: {},
  query: 'SELECT user, count(*) AS n, 9 AS nine FROM signins GROUP BY user',
  from: '2024-01-01T00:00:00.000Z',
  to: '2024-01-02T00:00:00.000Z',
  columns: [
    { name: 'user', kind: 'value' },
    { name: 'n', kind: 'count' },
    { name: 'nine', kind: 'other' },
    { name: 'none', kind: 'count' },
  ],
  rows: [{ rowId: 'r1', time: null, fields: { user: 'mallory', n: '412', nine: '9', none: '0' } }],
  total: 1,
  truncated: false,
  hasEvents: null,
  source: 'events',
  isTrusted: false,
  at: '2024-01-02T00:00:00.000Z',
  ms: 3,
  hash: 'x',
};
const file = caseOf(medium, {
  observations: [observed],
  notes: [{ id: 'n1', entity: 'alice', note: 'On call this week.' }],
  entries: [{ list: 'admins', entry: 'alice' }],
  items: [{ id: 'i1', indicator: '192.0.2.7', title: 'Botnet uses 192.0.2.7' }],
  documents: [{ name: 'runbook', content: 'Access keys are rotated on the first of each month.' }],
});
const check = (claim: Claim) => checkClaims([claim], file)[0]!.claim;

test('cites the claims of a good verdict', () => {
  expect(checkClaims(good.claims, file).map(({ claim }) => [claim.status, claim.reason])).toEqual([
    ['cited', null],
    ['cited', null],
    ['assessment', null],
  ]);
});

test.each<[string, Claim]>([
  ['a row of an observation', fact('mallory is there too.', cell('r1', 'user', 'mallory', 'o1'))],
  ['a figure', fact('mallory tried 412 times.', { observation: 'o1', column: 'n', value: '412' })],
  ['a note', fact('alice is on call.', { note: 'n1' })],
  ['an entry of a list', fact('alice is an administrator.', { list: 'admins', entry: 'alice' })],
  ['a document', fact('Keys are rotated.', { document: 'runbook', quote: 'keys are rotated on the first' })],
  ['a feed item', fact('The feed knows 192.0.2.7.', { item: 'i1', quote: 'Botnet uses 192.0.2.7' })],
  ['the time of a row', fact('It began at 03:04 UTC.', cell('e1', 'eventName', 'AttachUserPolicy'))],
  [
    'the time between two rows',
    fact(
      'One minute later it made a key.',
      cell('e1', 'eventName', 'AttachUserPolicy'),
      cell('e2', 'eventName', 'CreateAccessKey'),
    ),
  ],
  ['a date', fact('On January 1, it made a key.', cell('e2', 'eventName', 'CreateAccessKey'))],
  [
    'a part of a value',
    fact('A file was fetched from files.example.com.', cell('e2', 'url', 'https://files.example.com/a?b=1')),
  ],
])('cites %s', (_name, claim) => {
  expect(check(claim)).toMatchObject({ status: 'cited', reason: null });
});

test.each<[string, Claim, string]>([
  ['without citations', fact('alice did it.'), 'it cites nothing'],
  ['of an unknown row', fact('It ran.', cell('e9', 'ip', '192.0.2.7')), 'no row with this ID'],
  ['of an unknown field', fact('It ran.', cell('e1', 'nope', '192.0.2.7')), 'does not have this field'],
  ['of another value', fact('It ran.', cell('e1', 'ip', '192.0.2.70')), 'a different value'],
  ['of an unknown observation', fact('It ran.', cell('r1', 'user', 'mallory', 'o2')), 'no such observation'],
  ['of a constant of the query', fact('It ran.', cell('r1', 'nine', '9', 'o1')), 'the query itself computed'],
  [
    'of a count of zero without events',
    fact('None.', { observation: 'o1', column: 'none', value: '0' }),
    'nobody knows',
  ],
  ['of an unknown note', fact('It ran.', { note: 'n2' }), 'no such note'],
  ['of an unknown fact', fact('It ran.', { fact: 'nope' }), 'no such fact'],
  [
    'of words that a document does not have',
    fact('Fine.', { document: 'runbook', quote: 'everything is allowed' }),
    'does not say',
  ],
  ['with another address', fact('It came from 192.0.2.70.', cell('e1', 'ip', '192.0.2.7')), '192.0.2.70'],
  ['with another number', fact('There were 13 failures.', cell('e1', 'failures', '12')), '13'],
  ['with another time', fact('It began at 04:04 UTC.', cell('e1', 'ip', '192.0.2.7')), '04:04'],
  ['with another quotation', fact('It ran "rm -rf".', cell('e1', 'ip', '192.0.2.7')), 'rm -rf'],
  ['with another host', fact('It ran on db.example.com.', cell('e1', 'host', 'web-01')), 'db.example.com'],
  [
    'with another span',
    fact(
      'Ten minutes later it made a key.',
      cell('e1', 'eventName', 'AttachUserPolicy'),
      cell('e2', 'eventName', 'CreateAccessKey'),
    ),
    'Ten minutes',
  ],
])('does not prove a claim %s', (_name, claim, reason) => {
  expect(check(claim)).toMatchObject({ status: 'unproven', reason: expect.stringContaining(reason) });
});

test('names a technique that ATT&CK does not have', () => {
  const claim = fact('This is T9999.', cell('e1', 'ip', '192.0.2.7'));
  const [checked] = checkClaims([claim], file, { isTechnique: (id) => id === 'T1098' });
  expect(checked!.claim).toMatchObject({ status: 'unproven', reason: expect.stringContaining('T9999') });
});
