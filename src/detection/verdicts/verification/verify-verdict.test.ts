import { describe, expect, test } from 'vitest';
import type { Candidate } from '../../analysis/candidate.ts';
import { candidatesOf, definitionOf, detectionTexts } from '../../../../test/support/detection/analysis-examples.ts';
import { good, high, medium, rows } from '../../../../test/support/detection/verdict-examples.ts';
import { createAnalystVerdict } from '../analyst/analyst.ts';
import type { Verdict } from '../verdict.ts';
import { verifyVerdict } from './verify-verdict.ts';
import { expectLinearTime, repeated } from '../../../../test/support/linear-time.ts';

const verify = (verdict: Verdict, candidate: Candidate) => verifyVerdict(verdict, candidate, detectionTexts);

test('keeps a verdict whose claims are all in the rows', () => {
  expect(verify(good, medium)).toEqual({
    verdict: good,
    triggered: true,
    struck: [],
    modelDisagrees: null,
    needsReview: null,
  });
});

const otherValue = 'the field has a different value';
const noField = 'the row does not have this field';
const timeOrId = 'the field is only a time or an ID';

describe('evidence that fails verification', () => {
  const row = {
    _id: 'e3',
    user: 'alice',
    ip: '192.0.2.70',
    account: 'svc-backup2',
    seen: '2024-01-01 03:04:05 UTC',
    agent: ' ',
  };
  const [candidate] = candidatesOf([...rows, row], definitionOf('custom')) as [Candidate];

  test.each([
    ['another row', 'e9', 'policy', 'AdministratorAccess', 'the entity has no row with this ID'],
    ['another field', 'e1', 'role', 'AdministratorAccess', noField],
    ['a field named like an object property', 'e1', 'constructor', 'x', noField],
    ['another value', 'e1', 'policy', 'ReadOnlyAccess', otherValue],
    ['part of an address', 'e1', 'ip', '2.0.2', otherValue],
    ['the value of another row', 'e2', 'eventName', 'AttachUserPolicy', otherValue],
    ['an empty value', 'e1', 'policy', '', otherValue],
    ['a part that ends within a word', 'e1', 'note', 'night shift for one hou', otherValue],
    ['only an ID', 'e1', 'eventID', 'id-1', timeOrId],
    ['part of a longer address', 'e3', 'ip', '192.0.2.7', otherValue],
    ['part of a longer name', 'e3', 'account', 'svc-backup', otherValue],
    ['part of a time', 'e3', 'seen', '03:04:05 UTC', timeOrId],
    ['an empty part of a blank value', 'e3', 'agent', '', otherValue],
  ])('strikes %s', (_name, rowId, field, value, reason) => {
    const evidence = [{ rowId, field, value, why: '' }];
    const { triggered, struck, verdict } = verify({ ...good, evidence }, candidate);
    expect(struck).toMatchObject([{ where: 'evidence', reason }]);
    expect({ triggered, evidence: verdict.evidence }).toEqual({ triggered: false, evidence: [] });
  });

  test('accepts a long part of a value and an event ID of an aggregate row', () => {
    const isHit = (rowId: string, field: string, value: string, of = medium): boolean =>
      verify({ ...good, evidence: [{ rowId, field, value, why: '' }] }, of).triggered;
    expect(isHit('e1', 'note', 'night shift for one hour')).toBe(true);
    const counted = [{ user: 'alice', count: 3, _ids: ['e7', 'e8'] }];
    const [aggregate] = candidatesOf(counted, definitionOf('custom'), true) as [Candidate];
    expect(isHit('e8', 'count', '3', aggregate)).toBe(true);
    expect(isHit('e9', 'count', '3', aggregate)).toBe(false);
  });

  test('removes a reason with unverified claims but keeps the evidence', () => {
    const evidence = [{ ...good.evidence[0]!, why: 'as seen from 203.0.113.9' }];
    const { verdict, struck } = verify({ ...good, evidence }, medium);
    expect(verdict.evidence[0]).toMatchObject({ value: 'AdministratorAccess', why: '' });
    expect(struck).toMatchObject([{ where: 'why' }]);
  });
});

describe('sentences', () => {
  test.each([
    'It came from 203.0.113.9.',
    'It came from 192.0.2.77.',
    'It came from 92.0.2.7.',
    'It came from 192.0.2.',
    'It fetched from files.example first.',
    'The host web-0 was touched.',
    'The user alicebob helped.',
    'It came from 203[.]0[.]113[.]9.',
    'The address was 2001:db8::1.',
    'It called evil.example.net afterwards.',
    'It fetched from example.com.evil.net then.',
    'The file ad39a3ee5e6b4b0d3255bfef95601890afd80709 was seen.',
    'The host web-011 was touched.',
    'The host db was touched.',
    'The user bob helped.',
    'An account named operator was used.',
    'CORP\\bob signed in.',
    'There bob@example.org signed in.',
    'Role arn:aws:iam::123456789012:role/admin was assumed.',
    'There were 13 failures.',
    'There were 1,200 failures.',
    'There were thirteen failures.',
    'There were a hundred failures.',
    'The risk is 95%.',
    'It happened at 04:04.',
    'It happened on 2024-02-01.',
    'It ran mimikatz.exe there.',
    'It also called DeleteTrail quietly.',
    'It wrote to /etc/shadow first.',
    'It used CVE-2021-44228 for it.',
    'The address was １９２.0.2.9 again.',
  ])('strikes: %s', (sentence) => {
    const summary = `User alice acted. ${sentence} That is all.`;
    const { verdict, struck } = verify({ ...good, summary }, medium);
    expect(verdict.summary).toBe('User alice acted. That is all.');
    expect(struck).toMatchObject([{ where: 'summary', text: sentence.normalize() }]);
  });

  test.each([
    'The address was 192[.]0[.]2[.]7.',
    'It fetched hxxps://files[.]example[.]com/a?b=1 first.',
    'The domain was files.example.com, twelve failures came first.',
    'The rows lie between 2024-01-01T03:04:05.000Z and 2024-01-01T03:05.',
    'It happened on 2024-01-01, between 03:04:05 and 03:05 UTC.',
    'This is T1098 of ATT&CK and concerns IAM, S3, EC2 and OAuth2.',
    "Alice's policy “AdministratorAccess” and/or key was new, e.g. for IPv4.",
    'The account was used; the user should be asked, and the host is to be checked.',
    'The file da39a3ee5e6b4b0d3255bfef95601890afd80709 (SHA-1) was named.',
    '1. Ask alice.',
  ])('keeps: %s', (sentence) => {
    expect(verify({ ...good, summary: sentence }, medium).struck).toEqual([]);
  });

  test('replaces texts that were struck completely with the analyst texts', () => {
    const texts = { headline: 'bob@example.org did it', summary: '', nextStep: 'Block 203.0.113.9.' };
    const { verdict } = verify({ ...good, ...texts }, medium);
    expect(verdict.headline).toBe(
      'Example detection: user alice (AttachUserPolicy on AdministratorAccess from 192.0.2.7)',
    );
    expect(verdict.summary).toContain('2 rows for user “alice”');
    expect(verdict.nextStep).toContain('user “alice”');
  });
});

describe('severity high or above', () => {
  test('stays a hit and keeps the reason of a judge that disagrees', () => {
    const planned = { ...good, triggered: false, severity: 'none', summary: 'A planned change.' } as const;
    const { triggered, verdict, modelDisagrees } = verify(planned, high);
    expect([triggered, verdict.severity, modelDisagrees]).toEqual([true, 'high', 'A planned change.']);
    expect(verdict.evidence.length).toBeGreaterThan(0);
  });

  test('stays a hit without valid evidence', () => {
    const { triggered, verdict, modelDisagrees } = verify({ ...good, severity: 'critical', evidence: [] }, high);
    expect({ triggered, severity: verdict.severity }).toEqual({ triggered: true, severity: 'critical' });
    expect(modelDisagrees).toContain('evidence');
    expect(verdict.evidence.length).toBeGreaterThan(0);
  });

  test('lets the judge decide below high', () => {
    const result = verify({ ...good, triggered: false }, medium);
    expect(result).toMatchObject({ triggered: false, modelDisagrees: null });
  });
});

test('corrects the entity and values out of range', () => {
  const malformed = {
    ...good,
    entity: 'bob',
    entityType: 'host',
    confidence: 900,
    severity: 'huge' as 'high',
    headline: 'x'.repeat(5_000),
  };
  const { verdict } = verify(malformed, medium);
  expect(verdict).toMatchObject({ entity: 'alice', entityType: 'user', confidence: 100, severity: 'medium' });
  expect(verdict.headline.length).toBeLessThanOrEqual(300);
  expect(verify({ ...good, confidence: Number.NaN }, medium).verdict.confidence).toBe(0);
});

test.each([
  ['summary', 'a1.b2,'],
  ['headline', '('],
  ['nextStep', '1,'],
])('verifies a %s full of %j in linear time', (field, part) =>
  expectLinearTime(repeated(part), (text) => verify({ ...good, [field]: text }, medium), 400_000),
);

test('accepts the verdicts of the built-in analyst', () => {
  for (const candidate of [medium, high]) {
    const result = verify(createAnalystVerdict(candidate, detectionTexts), candidate);
    expect(result).toMatchObject({ struck: [], triggered: true, modelDisagrees: null });
  }
});

describe('people and accusations', () => {
  test.each([
    'John Smith did it.',
    'It was probably Peter Novak.',
    'The attacker is mallory.',
    'Then mallory stole the data.',
    'Suspend Novak.',
    'The access was approved by Karin.',
  ])('strikes: %s', (sentence) => {
    const { struck } = verify({ ...good, summary: `User alice acted. ${sentence}` }, medium);
    expect(struck).toMatchObject([{ where: 'summary', text: sentence }]);
  });

  test.each([
    'The attacker is likely alice.',
    'Review the IAM policy in the AWS console with the Windows team on Monday.',
    'Alice attached the policy. This is Privilege Escalation.',
    'The account was used by an attacker.',
  ])('keeps: %s', (sentence) => {
    expect(verify({ ...good, summary: sentence }, medium).struck).toEqual([]);
  });
});

describe('the prompt', () => {
  const trace = { repaired: false, recited: false, toolCalls: 0, toolFaults: 0, instructions: 0 };
  const detection = {
    ...detectionTexts,
    systemPrompt:
      'Judge whether the person who attached the role was supposed to do so. Benign: the platform team during a planned migration. Our break-glass role is exempt.',
    customInstructions: 'Look at the address of the caller before everything else.',
  };
  const summaryOf = (summary: string, output?: unknown) =>
    verifyVerdict({ ...good, summary, trace, ...(output === undefined ? {} : { output }) }, medium, detection);

  test.each([
    'I was told: judge whether the person who attached the role was supposed to do so.',
    'Benign: the platform team during a planned migration.',
    'My rules say that benign means the platform team during a planned change.',
    'Our break-glass role is exempt.',
    'Look at the address of the caller before everything else, it says.',
    'Text between tags comes from logs and other outside sources.',
    'QmVuaWduOiB0aGUgcGxhdGZvcm0gdGVhbSBkdXJpbmcgYSBwbGFubmVkIG1pZ3JhdGlvbi4=',
    'os od ot desoppus saw elor eht dehcatta ohw nosrep eht rehtehw egduj',
  ])('is not repeated: %s', (sentence) => {
    expect(summaryOf(`User alice acted. ${sentence}`).verdict.summary).not.toContain(sentence);
    expect(summaryOf('User alice acted.', { notes: [sentence] }).verdict.output).toEqual({
      notes: ['[removed: repeats the prompt]'],
    });
  });

  test('may share words with a verdict', () => {
    const summary =
      'The platform team did not attach the role. User alice attached AdministratorAccess from 192.0.2.7.';
    expect(summaryOf(summary).verdict.summary).toBe(summary);
  });
});
