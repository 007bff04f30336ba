import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compileAllowList, compileExceptions, type ExceptionSubject } from '../../analysis/exceptions.ts';
import { runAtOnce } from '../../../platform/lib/concurrency/slices.ts';
import { chooseSimilar, listNarrowings as listNarrowingsInSteps, type PastFinding } from './narrowings.ts';

const listNarrowings = (...args: Parameters<typeof listNarrowingsInSteps>) => runAtOnce(listNarrowingsInSteps(...args));

type Fields = Record<string, string>;
const finding = (entity: string, rows: Fields[], is: Partial<PastFinding> = {}): PastFinding => ({
  entity,
  facts: {},
  rows: rows.map((fields, index) => ({ rowId: String(index), time: null, fields })),
  isChosen: false,
  mustStay: false,
  ...is,
});
const none = { proofs: [], lists: new Map() };
const chosen = { isChosen: true };
const real = { mustStay: true };
const technique = 'T1078.004';
const call = (role: string, ip: string, name: string): Fields => ({ role, ip, name, technique });
const falsePositives = ['CreateFunction', 'PutBucketPolicy', 'UpdateFunction'].map((name) =>
  finding('role-ci', [call('role-ci', '10.1.0.9', name)], chosen),
);
const rulesOf = (past: readonly PastFinding[], known: Parameters<typeof listNarrowings>[1] = none) =>
  listNarrowings(past, known).map(({ rule: { entity, field, value, list, conditions } }) => [
    ...(entity === null ? [] : [entity]),
    ...(field === null ? [] : [{ field, value: value ?? list }]),
    ...conditions.map((one) => ({ field: one.field, value: one.value ?? one.list })),
  ]);

test('offers the narrowest conditions first, never a constant, and none that hides a true positive', () => {
  const past = [
    ...falsePositives,
    finding('role-ci', [call('role-ci', '203.0.113.7', 'CreateUser')], real),
    finding('role-app', [call('role-app', '10.1.0.9', 'GetObject')]),
    finding('role-db', [call('role-db', '10.1.0.4', 'GetObject')]),
  ];
  const ip = { field: 'ip', value: '10.1.0.9' };
  expect(rulesOf(past)).toEqual([['role-ci', ip], [ip]]);
  const [narrow] = listNarrowings(past, none);
  expect(narrow!.hidden).toEqual(falsePositives);
  expect(narrow!.coverage).toEqual([
    'Other entities are still raised: 2 of the 6 findings of the past, such as role-app, role-db.',
    'Findings with another ip are still raised: 2 of the 6 findings of the past, such as 203.0.113.7, 10.1.0.4.',
    'A finding with any row that differs is still raised as a whole.',
  ]);
  const proof = [finding('role-app', [call('role-app', '10.1.0.9', 'StopLogging')])];
  expect(rulesOf(past, { ...none, proofs: [proof] })).toEqual([['role-ci', ip]]);
  expect(rulesOf([...past, { ...falsePositives[0]!, isChosen: false, mustStay: true }])).toEqual([]);
});

test.each<[string, PastFinding[], unknown[][]]>([
  ['only the entity if there is nothing to compare with', falsePositives, [['role-ci']]],
  [
    'a network or a value list if the values differ',
    [
      finding('a', [{ ip: '192.0.2.7' }, { ip: '192.0.2.90' }], chosen),
      finding('b', [{ ip: '192.0.2.8' }], chosen),
      finding('c', [{ ip: '192.0.2.100' }]),
      finding('d', [{ ip: '198.51.100.1' }]),
    ],
    [[{ field: 'ip', value: 'scanners' }], [{ field: 'ip', value: '192.0.2.0/24' }]],
  ],
  [
    'no time, number or ID of one event',
    [
      finding(
        'a',
        [{ at: '2026-03-01T10:00:00Z', bytes: '7123', request: '0b5a4c9e-6b1f-4a57-9d0c-3f2a1b4c5d6e', app: 'wiki' }],
        chosen,
      ),
      finding('a', [{ at: '2026-03-01T11:00:00Z', bytes: '98', request: 'r2', app: 'mail' }]),
    ],
    [[{ field: 'app', value: 'wiki' }]],
  ],
  [
    'no number that the analysis counted',
    [
      finding('a', [{ app: 'wiki', failures: '4' }], { ...chosen, facts: { count: 4 } }),
      finding('b', [{ app: 'wiki', failures: '4' }], { ...chosen, facts: { count: 4 } }),
      finding('c', [{ app: 'mail', failures: '9' }], { facts: { count: 9 } }),
    ],
    [[{ field: 'app', value: 'wiki' }]],
  ],
  [
    'nothing if rows of a finding are not shown',
    [finding('a', [{ app: 'wiki' }], { ...chosen, facts: { candidateRows: 90 } }), finding('a', [{ app: 'mail' }])],
    [],
  ],
])('offers %s', (_name, past, expected) => {
  const lists = new Map([['scanners', compileAllowList(['192.0.2.7', '192.0.2.8', '192.0.2.90'])]]);
  expect(rulesOf(past, { proofs: [], lists })).toEqual(expected);
});

test('chooses the false positives that are most alike', () => {
  const others = [finding('role-db', [call('role-db', '10.1.0.4', 'GetObject')])];
  const odd = finding('role-db', [call('role-db', '10.1.0.8', 'PutItem')]);
  expect(chooseSimilar([odd, ...falsePositives], others)).toEqual(falsePositives);
});

const word = fc.constantFrom('a', 'B', 'b', 'a*', '', '192.0.2.1', '192.0.2.9', '2001:db8::1', '2001:db8::2', '7');
const anyFinding = fc
  .tuple(
    word,
    fc.array(fc.dictionary(fc.constantFrom('x', 'X', 'ip', 'toString'), word, { maxKeys: 3 }), { maxLength: 3 }),
    fc.constantFrom({}, chosen, chosen, real),
  )
  .map(([entity, rows, is]) => finding(entity, rows, is));

test('an exception hides all chosen findings, no true positive and nothing that a test expects', () => {
  const lists = new Map([['some', compileAllowList(['a', '192.0.2.0/24'])]]);
  let offered = 0;
  fc.assert(
    fc.property(fc.array(anyFinding, { maxLength: 8 }), fc.array(anyFinding, { maxLength: 2 }), (past, tests) => {
      for (const { rule, hidden } of listNarrowings(past, { proofs: tests.map((one) => [one]), lists })) {
        offered++;
        const hides = (one: ExceptionSubject): boolean => compileExceptions([rule], lists)(one) !== undefined;
        expect(past.filter(hides)).toEqual(hidden);
        expect(past.every((one) => (one.isChosen ? hides(one) : !one.mustStay || !hides(one)))).toBe(true);
        expect(tests.some(hides)).toBe(false);
      }
    }),
    { numRuns: 1000 },
  );
  expect(offered).toBeGreaterThan(100);
});
