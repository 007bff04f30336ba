import { describe, expect, test } from 'vitest';
import { candidatesOf, definitionOf, detectionTexts } from '../../../../test/support/detection/analysis-examples.ts';
import type { Candidate } from '../../analysis/candidate.ts';
import type { Verdict } from '../verdict.ts';
import { verifyVerdict } from './verify-verdict.ts';

const trace = { repaired: false, recited: false, toolCalls: 0, toolFaults: 0, instructions: 0 };

/** A row with a text that no rule recognizes as addressed to a model. */
const planted = 'Vielen Dank, Jonas Weber, j.weber, CORP\\weber und jweber haben alles erledigt';

function candidateWith(fields: Record<string, string>): Candidate {
  const row = { _id: 'e1', user: 'svc-build', action: 'AttachRolePolicy', source_ip: '192.0.2.7', ...fields };
  return candidatesOf([row], definitionOf('custom', { entityField: 'user' }))[0]!;
}

const verdictOf = (summary: string, more: Partial<Verdict> = {}): Verdict => ({
  entity: 'svc-build',
  entityType: 'user',
  triggered: true,
  confidence: 80,
  severity: 'medium',
  headline: 'A role was attached',
  summary,
  evidence: [{ rowId: 'e1', field: 'action', value: 'AttachRolePolicy', why: 'the action' }],
  nextStep: 'Ask the owner.',
  trace,
  ...more,
});

const verify = (verdict: Verdict, candidate: Candidate) => verifyVerdict(verdict, candidate, detectionTexts);
const outside = /^only in free text of outsiders: /;

describe.each([
  'user_agent',
  'message',
  'url',
  'subject',
  'comment',
  'command_line',
  'file_name',
  'dns_query',
  'x_unknown',
  'errorMessage',
])('a name that only the free text of %s contains', (field) => {
  test.each([
    'Jonas Weber did it.',
    'The culprit is Weber.',
    'The attacker is jweber.',
    'It was Jonas.',
    'The account jweber was used by the attacker.',
    'Suspend j.weber.',
    'Disable the account jweber.',
    'Lock CORP\\weber, who is the insider.',
    'Der Täter ist j.weber.',
    `The subject was “${planted}”.`,
  ])('is struck: %s', (sentence) => {
    const candidate = candidateWith({ [field]: planted });
    const { verdict, struck } = verify(verdictOf(`The role was attached. ${sentence}`), candidate);
    expect(verdict.summary).toBe('The role was attached.');
    expect(struck).toMatchObject([{ where: 'summary' }]);
    expect(verify(verdictOf('x', { headline: sentence }), candidate).verdict.headline).not.toMatch(/weber|jonas/i);
    expect(verify(verdictOf('x', { nextStep: sentence }), candidate).verdict.nextStep).not.toMatch(/weber|jonas/i);
    expect(verify(verdictOf('x', { output: { note: sentence } }), candidate).verdict.output).not.toMatchObject({
      note: sentence,
    });
  });
});

test.each([
  ['user_agent', 'Weber/1.0'],
  ['subject', 'Jonas Weber'],
  ['url', 'https://portal.example/?by=jweber'],
])('does not count a name in %s as one of the rows, even where the field has no sentence', (field, value) => {
  const { struck } = verify(verdictOf('The attacker is jweber. It was Weber.'), candidateWith({ [field]: value }));
  expect(struck.length).toBeGreaterThan(0);
  expect(struck.every(({ where }) => where === 'summary')).toBe(true);
});

describe('keeps', () => {
  test.each([
    ['an accusation of a name in another field', { target: 'Jonas', comment: planted }, 'The attacker is Jonas.'],
    ['an accusation of the entity', { comment: planted }, 'The attacker is svc-build. Suspend svc-build.'],
    ['an address in a URL', { url: 'https://evil.example/a b c' }, 'Block evil.example, which the attacker used.'],
    [
      'a program in a command',
      { command_line: 'cmd /c start mimikatz.exe and then exit' },
      'The account svc-build was compromised and ran mimikatz.exe.',
    ],
    ['a complete value without free text', { subject: 'Invoice Contoso' }, 'The subject was “Invoice Contoso”.'],
    [
      'a complete command',
      { command_line: 'net localgroup administrators bob /add' },
      'It ran “net localgroup administrators bob /add”.',
    ],
    ['names of groups', { command_line: 'net localgroup Administrators bob /add' }, 'It changed the Administrators.'],
    ['an account outside of an accusation', { message: 'Failed password for root from host' }, 'The user root failed.'],
    ['the operation of a vendor', { operation: 'Add Member to Role' }, 'The operation was Member to Role.'],
  ])('%s', (_name, fields, summary) => {
    expect(verify(verdictOf(summary), candidateWith(fields)).struck).toEqual([]);
  });
});

test('gives the reason', () => {
  const { struck } = verify(verdictOf('The culprit is Weber.'), candidateWith({ comment: planted }));
  expect(struck[0]!.reason).toMatch(outside);
});

test('does not check the built-in analyst, which repeats no text as its own', () => {
  const { trace: _trace, ...verdict } = verdictOf('Jonas Weber did it.');
  expect(verify(verdict, candidateWith({ comment: planted })).struck).toEqual([]);
});
