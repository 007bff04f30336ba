import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseSyslogMessage, type SyslogMessage } from './syslog-decoder.ts';

const receivedAt = new Date('2026-03-01T10:00:00Z');
const parse = (text: string, at = receivedAt) => {
  const { timeMicros, ...rest } = parseSyslogMessage(text, at);
  const time = timeMicros === undefined ? undefined : new Date(timeMicros / 1000).toISOString();
  return JSON.parse(JSON.stringify({ ...rest, time })) as Omit<SyslogMessage, 'timeMicros'> & { time?: string };
};

// The first four are the examples of RFC 5424, section 6.5.
test.each<[string, object]>([
  [
    "<34>1 2003-10-11T22:14:15.003Z mymachine.example.com su - ID47 - \u{FEFF}'su root' failed for lonvick on /dev/pts/8",
    {
      facility: 'auth',
      severity: 'crit',
      time: '2003-10-11T22:14:15.003Z',
      host: 'mymachine.example.com',
      program: 'su',
      messageId: 'ID47',
      message: "'su root' failed for lonvick on /dev/pts/8",
    },
  ],
  [
    '<165>1 2003-08-24T05:14:15.000003-07:00 192.0.2.1 myproc 8710 - - %% It is time to make the do-nuts.',
    {
      facility: 'local4',
      severity: 'notice',
      time: '2003-08-24T12:14:15.000Z',
      host: '192.0.2.1',
      program: 'myproc',
      processId: '8710',
      message: '%% It is time to make the do-nuts.',
    },
  ],
  [
    '<165>1 2003-10-11T22:14:15.003Z mymachine.example.com evntslog - ID47 [exampleSDID@32473 iut="3" eventSource="Application" eventID="1011"] An application event',
    {
      facility: 'local4',
      severity: 'notice',
      time: '2003-10-11T22:14:15.003Z',
      host: 'mymachine.example.com',
      program: 'evntslog',
      messageId: 'ID47',
      structuredData: { 'exampleSDID@32473': { iut: '3', eventSource: 'Application', eventID: '1011' } },
      message: 'An application event',
    },
  ],
  [
    '<165>1 2003-10-11T22:14:15.003Z mymachine.example.com evntslog - ID47 [a@1 x="\\"\\]\\\\"][b@1 y=""]',
    {
      facility: 'local4',
      severity: 'notice',
      time: '2003-10-11T22:14:15.003Z',
      host: 'mymachine.example.com',
      program: 'evntslog',
      messageId: 'ID47',
      structuredData: { 'a@1': { x: '"]\\' }, 'b@1': { y: '' } },
      message: '',
    },
  ],
])('parses RFC 5424: %j', (text, expected) => {
  expect(parse(text)).toEqual(expected);
});

const auth = { facility: 'auth', severity: 'info' };
test.each<[string, string, object]>([
  [
    'the usual form',
    '<38>Feb 28 09:59:01 web1 sshd[4242]: Accepted publickey for ana',
    {
      ...auth,
      time: '2026-02-28T09:59:01.000Z',
      host: 'web1',
      program: 'sshd',
      processId: '4242',
      message: 'Accepted publickey for ana',
    },
  ],
  [
    'an ISO time',
    '<38>2026-02-28T09:59:01.5+01:00 web1 su: ok',
    { ...auth, time: '2026-02-28T08:59:01.500Z', host: 'web1', program: 'su', message: 'ok' },
  ],
  [
    'a sequence number, a year and a zone',
    '<189>29: *Feb  2 2026 13:02:26.602 UTC: %SYS-5-CONFIG_I: Configured from console',
    {
      facility: 'local7',
      severity: 'notice',
      time: '2026-02-02T13:02:26.602Z',
      program: '%SYS-5-CONFIG_I',
      message: 'Configured from console',
    },
  ],
  [
    'no host',
    '<38>Feb 28 09:59:01 su: ok',
    { ...auth, time: '2026-02-28T09:59:01.000Z', program: 'su', message: 'ok' },
  ],
  [
    'no program',
    '<38>Feb 28 09:59:01 fw1 deny tcp',
    { ...auth, time: '2026-02-28T09:59:01.000Z', host: 'fw1', message: 'deny tcp' },
  ],
  ['no time', '<38>something happened', { ...auth, message: 'something happened' }],
  [
    'no priority',
    'Feb 28 09:59:01 web1 su: ok',
    { time: '2026-02-28T09:59:01.000Z', host: 'web1', program: 'su', message: 'ok' },
  ],
  ['an unknown priority', '<999>text', { message: '<999>text' }],
  [
    'a last year',
    '<38>Dec 31 23:00:00 web1 su: ok',
    { ...auth, time: '2025-12-31T23:00:00.000Z', host: 'web1', program: 'su', message: 'ok' },
  ],
  [
    'an incomplete new format',
    '<38>1 2026-02-28T09:59:01Z web1 su - - [a@1 x="1" text',
    { ...auth, message: '1 2026-02-28T09:59:01Z web1 su - - [a@1 x="1" text' },
  ],
])('parses RFC 3164 with %s', (_name, text, expected) => {
  expect(parse(text)).toEqual(expected);
});

test('chooses the year closest to the arrival', () => {
  expect(parse('<38>Jan  1 00:00:30 h p: m', new Date('2025-12-31T23:59:50Z')).time).toBe('2026-01-01T00:00:30.000Z');
});

test('keeps every text, and names like those of the prototype', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const { message, program = '', host = '' } = parse(`<38>Feb 28 09:59:01 ${text}`);
      expect(`${host}${program}${message}`.length).toBeLessThanOrEqual(text.length);
      expect(text.endsWith(message)).toBe(true);
    }),
  );
  expect(parse('<38>1 - - - - - [__proto__ __proto__="x"] m').message).toBe('m');
});
