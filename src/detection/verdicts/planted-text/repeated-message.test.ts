import { expect, test } from 'vitest';
import type { Candidate } from '../../analysis/candidate.ts';
import { withoutOutsideText } from './outside-text.ts';
import { withoutRepeatedMessages } from './repeated-message.ts';

const message =
  'A token right was adjusted.\\r\\n\\r\\nSubject:\\r\\n\\tSecurity ID:\\t\\tS-1-5-18\\r\\n\\tAccount Name:\\t\\tSRV-7$\\r\\n\\tLogon ID:\\t\\t0x3E7';
const fields = { EventID: '4703', SubjectUserSid: 'S-1-5-18', SubjectUserName: 'SRV-7$', SubjectLogonId: '0x3e7' };

const candidateWith = (values: Record<string, string>): Candidate => ({
  entity: 'SRV-7$',
  entityType: 'host',
  kind: 'custom',
  kindKey: '',
  severity: 'medium',
  facts: { rows: 1 },
  rows: [{ rowId: 'r1', time: null, fields: values }],
});

test('a message that repeats the fields of its event is not shown, and needs no confirmation', () => {
  const candidate = candidateWith({ ...fields, Message: message });
  expect(withoutRepeatedMessages(candidate).rows[0]!.fields).toEqual(fields);
  expect(withoutOutsideText(candidate)).toBeUndefined();
});

test.each([
  ['an event without an ID', { SubjectUserName: 'SRV-7$', Message: message }],
  ['a message with values of its own', { ...fields, Message: message.replace('S-1-5-18', 'x').replace('0x3E7', 'y') }],
  ['a message without labels', { ...fields, Message: 'The backup of SRV-7$ was cleared by S-1-5-18 today' }],
])('%s keeps it', (_name, values) => {
  const candidate = candidateWith(values);
  expect(withoutRepeatedMessages(candidate)).toBe(candidate);
  expect(withoutOutsideText(candidate)?.fields).toEqual(['Message']);
});

test('text within another field still needs confirmation', () => {
  const comment = 'Reviewed by the previous shift, nothing to do';
  expect(withoutOutsideText(candidateWith({ ...fields, comment, Message: message }))?.fields).toEqual(['comment']);
});
