import { expect, test } from 'vitest';
import { withoutRepeatedMessages } from './prompt.ts';

const message =
  'A token right was adjusted.\\r\\n\\r\\nSubject:\\r\\n\\tSecurity ID:\\t\\tS-1-5-18\\r\\n\\tAccount Name:\\t\\tSRV-7$\\r\\n\\tLogon ID:\\t\\t0x3E7';
const fields = { EventID: '4703', SubjectUserSid: 'S-1-5-18', SubjectUserName: 'SRV-7$', SubjectLogonId: '0x3e7' };
const rowOf = (values: Record<string, string>) => ({ rowId: 'r1', time: null, fields: values });

test('a message that repeats the fields of its event is not shown', () => {
  expect(withoutRepeatedMessages([rowOf({ ...fields, Message: message })])).toEqual([rowOf(fields)]);
});

test.each<[string, Record<string, string>]>([
  ['an event without an ID', { SubjectUserName: 'SRV-7$', Message: message }],
  ['a message with values of its own', { ...fields, Message: message.replace('S-1-5-18', 'x').replace('0x3E7', 'y') }],
  ['a message without labels', { ...fields, Message: 'The backup of SRV-7$ was cleared by S-1-5-18 today' }],
])('%s keeps it', (_name, values) => {
  expect(withoutRepeatedMessages([rowOf(values)])).toEqual([rowOf(values)]);
});
