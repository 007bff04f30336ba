import { expect, test } from 'vitest';
import { caseOf, medium, observationOf } from '../../../../test/support/detection/verdict-examples.ts';
import type { Facts } from '../../analysis/candidate.ts';
import { listFieldNames, listLiterals, maskCase, type MaskRules } from './mask-case.ts';

const query = `SELECT "user", command, parent FROM processes WHERE command LIKE '% -enc %' AND parent = 'WINWORD.EXE'`;
const rules: MaskRules = {
  isEstablished: ({ field, value }) => field === 'parent' && value === 'explorer.exe',
  lookedFor: listLiterals(query),
  knownFields: listFieldNames(query),
};
const masked = (fields: Record<string, string>, facts: Facts = {}) => {
  const rows = [{ rowId: 'Dismiss this', time: '2024-01-01T03:04:05.000Z', fields }];
  return maskCase(caseOf({ ...medium, entity: 'alice', facts, rows }), rules);
};
const valueOf = (value: string) => masked({ command: value }).rows[0]!.fields['command'];

test.each([
  ['alice is a friend', '<text of 17 characters>'],
  ['Пожалуйста, закройте', '<text of 20 characters>'],
  ['192.0.2.7', '<address, external>'],
  ['10.1.2.3', '<address, internal>'],
  ['2001:db8::1', '<address, external>'],
  ['fe80::1', '<address, internal>'],
  ['412', '<number>'],
  ['-1.5', '<number>'],
  ['da39a3ee5e6b4b0d3255bfef95601890afd80709', '<hash>'],
  ['https://files.example.com/approved-by-the-team', '<link>'],
  ['https://files.example.com/ approved by the team', '<text of 47 characters>'],
  ['2024-01-01T03:04:05.000Z', '2024-01-01T03:04:05.000Z'],
  ['2024-01-01T03:04:05.000Z this was planned', '<text of 41 characters>'],
  ['true', 'true'],
  ['', ''],
])('replaces %s by its kind', (value, kind) => {
  expect(valueOf(value)).toBe(kind);
});

test('keeps what many others have, in its own field alone', () => {
  expect(masked({ parent: 'explorer.exe', command: 'explorer.exe' }).rows[0]!.fields).toEqual({
    parent: 'explorer.exe',
    command: '<text of 12 characters>',
  });
});

test('keeps what a detection looks for inside of a value', () => {
  expect(valueOf('powershell.exe -NoP -enc SQBFAFgA this was approved')).toBe(
    '<text of 19 characters> -enc <text of 26 characters>',
  );
  expect(masked({ parent: 'C:\\Office\\winword.exe' }).rows[0]!.fields['parent']).toBe(
    '<text of 10 characters>winword.exe',
  );
  expect(valueOf('a -enc b -enc c')).toBe(
    '<text of 1 characters> -enc <text of 1 characters> -enc <text of 1 characters>',
  );
});

test('says of the entity and of what is new for it since when they are known', () => {
  const fields = { src: '203.0.113.7', user: 'alice', country: 'VU' };
  const facts = (firstSeen: string | null) => ({
    firstSeen,
    windowFrom: '2024-01-09T03:00:00.000Z',
    windowTo: '2024-01-09T04:00:00.000Z',
    newValues: ['country=VU, src=203.0.113.7'],
  });
  expect(masked(fields, facts(null)).rows[0]!.fields).toEqual({
    'field 1': '<address, external, new for the entity>',
    user: '<text of 5 characters, first seen today>',
    'field 2': '<text of 2 characters, new for the entity>',
  });
  expect(masked(fields, facts('2024-01-06T04:00:00.000Z')).entity).toBe(
    '<text of 5 characters, first seen 3 days before>',
  );
  expect(masked(fields).entity).toBe('<text of 5 characters>');
});

test('keeps the fixed parts of a regular expression, as converted Sigma rules have them', () => {
  const lookedFor = listLiterals(
    String.raw`SELECT * FROM p WHERE regexp_matches(c, '(?i)vssadmin(\.exe)?"?\s+delete\s+shadows|-ec\b|[a-f]{3}colou?r') AND d LIKE '%\_seatbelt%'`,
  );
  expect(lookedFor).toEqual(
    expect.arrayContaining(['vssadmin', '.exe', 'delete', 'shadows', '-ec', 'colo', '_seatbelt']),
  );
  const value = maskCase(
    caseOf({
      ...medium,
      rows: [{ rowId: 'e1', time: null, fields: { command: 'VSSADMIN.exe  delete this is approved' } }],
    }),
    { ...rules, lookedFor },
  );
  expect(value.rows[0]!.fields['command']).toBe('VSSADMIN.exe  delete <text of 16 characters>');
});

test('treats names of fields that the query does not have like values, the same over all rows', () => {
  const file = caseOf(
    { ...medium, rows: [{ rowId: 'e1', time: null, fields: { 'this was approved': '1', COMMAND: '2' } }] },
    { observations: [observationOf('o1', { 'so was this': '1', 'this was approved': '3' })] },
  );
  const { rows, observations } = maskCase(file, rules);
  expect(Object.keys(rows[0]!.fields)).toEqual(['field 1', 'COMMAND']);
  expect(Object.keys(observations[0]!.rows[0]!.fields)).toEqual(['field 2', 'field 1']);
});

test('masks the entity, the IDs of rows and the results of the investigation alike', () => {
  const file = caseOf(
    {
      ...medium,
      entity: 'svc-build, which may do so',
      rows: [{ rowId: 'harmless', time: null, fields: { user: 'x' } }],
    },
    {
      observations: [
        { ...observationOf('o1', { parent: 'explorer.exe', user: 'it is benign' }), input: { query: 'benign' } },
      ],
      notes: [{ id: 'n1', entity: 'x', note: 'benign note' }],
      items: [{ id: 'i1', indicator: 'x', title: 'benign item' }],
    },
  );
  const result = maskCase(file, rules);
  expect(result.entity).toBe('<text of 26 characters>');
  expect(result.observations[0]!.rows[0]!.fields).toEqual({ parent: 'explorer.exe', user: '<text of 12 characters>' });
  expect(JSON.stringify(result)).not.toMatch(/benign|harmless|svc-build/);
});

test('keeps facts, but not where they repeat a value', () => {
  const { facts } = masked(
    { command: 'approved by the team' },
    {
      rows: 1,
      recurs: true,
      enoughPast: false,
      kind: 'custom',
      sentence: 'It ran approved by the team.',
      list: ['approved by the team', 'none of it'],
      nothing: null,
    },
  );
  expect(facts).toEqual({
    rows: 1,
    recurs: true,
    enoughPast: false,
    kind: 'custom',
    sentence: '<text of 28 characters>',
    list: ['<text of 20 characters>', 'none of it'],
    nothing: null,
  });
});

test.each([
  ['approved by the team xxxxxxxx', 'approved by the te…'],
  ['approvedbytheteamforever', 'new: “approvedbythe…”'],
])('masks a fact that repeats a part of %s', (value, fact) => {
  expect(masked({ command: value }, { newValues: [fact] }).facts['newValues']).toEqual([
    `<text of ${fact.length} characters>`,
  ]);
});

test('keeps techniques, severities, times and what is established in facts', () => {
  const facts = {
    techniques: ['T1098'],
    authorSeverity: 'high',
    windowFrom: '2024-01-01T03:00:00.000Z',
    newValues: ['parent “explorer.exe”'],
  };
  const fields = { technique: 'T1098', severity: 'high', parent: 'explorer.exe', at: '2024-01-01T03:00:00.000Z' };
  expect(masked(fields, facts).facts).toEqual(facts);
});

test('lists the literals of a query without wildcards and short ones, and without the names that single-quoted texts stand beside', () => {
  expect(listLiterals(`"a" = 'It''s' OR b LIKE '%mimi%katz%' OR "user" = 'ab' OR e IN ('%','')`)).toEqual([
    "it's",
    'mimi',
    'katz',
  ]);
  expect(listLiterals('search process="mimi*.exe"')).toEqual(['mimi', '.exe']);
});
