import { describe, expect, test } from 'vitest';
import { redactText } from './redact.ts';
import { expectLinearTime, repeated } from '../../../../test/support/linear-time.ts';

// Made-up values, assembled from pieces so that secret scanners do not report them.
const awsSecret = ['wJalrXUtnFEMI', 'K7MDENGbPxRfiCYEXAMPLEKEYab'].join('/').slice(0, 40);
const jwt = ['eyJhbGciOiJIUzI1NiJ9', 'eyJzdWIiOiIxMjM0In0', 'c2lnbmF0dXJl'].join('.');
const pem = `-----BEGIN RSA PRIVATE ${'KEY'}-----\nMIIEabc\n-----END RSA PRIVATE ${'KEY'}-----`;

describe('redacts a secret in a text', () => {
  test.each([
    ['AWS secret key', `found ${awsSecret} in env`, awsSecret],
    ['JWT', `cookie ${jwt};`, 'eyJzdWIi'],
    ['private key', `cat key: ${pem} end`, 'MIIEabc'],
    ['cut-off private key', pem.slice(0, 40), 'MIIEa'],
    ['bearer token', 'Authorization: Bearer abcdef0123456789xyz', 'abcdef0123456789'],
    ['basic authorization', "-H 'Authorization: Basic dXNlcjpwYXNz'", 'dXNlcjpwYXNz'],
    ['URL with password', 'git clone https://bob:hunter2@git.example/x', 'hunter2'],
    ['key=value', 'PGPASSWORD=hunter2 psql', 'hunter2'],
    ['quoted value', 'password = "two words"', 'two words'],
    ['JSON in text', '{"sessionToken":"abcd1234"}', 'abcd1234'],
    ['flag with blank', 'tool --password hunter2 --user bob', 'hunter2'],
    ['windows flag', 'wmic /node:x /password:hunter2', 'hunter2'],
    ['net user', 'net user bob Hunter2! /add', 'Hunter2!'],
    ['net use', 'net use \\\\srv\\c$ /user:dom\\bob Hunter2!', 'Hunter2!'],
    ['curl -u', 'curl -s -u bob:hunter2 https://x.example', 'hunter2'],
    ['mysql -p', 'mysql -uroot -phunter2 db', 'hunter2'],
    ['secure string', 'ConvertTo-SecureString "Hunter2!" -AsPlainText', 'Hunter2!'],
    ['query string', 'GET /?sig=abcdefgh12345678&x=1', 'abcdefgh12345678'],
    ['environment variable', `export AWS_SECRET_ACCESS_KEY=${'a'.repeat(20)}`, 'aaaa'],
    ['token of a code host', `git push ghp_${'a1'.repeat(12)}`, 'a1a1'],
  ])('%s', (_name, text, secret) => {
    expect(redactText(text)).toContain('[redacted]');
    expect(redactText(text)).not.toContain(secret);
  });
});

describe('keeps identifiers', () => {
  test.each([
    'AKIAIOSFODNN7EXAMPLE',
    'da39a3ee5e6b4b0d3255bfef95601890afd80709',
    'arn:aws:secretsmanager:us-east-1:123456789012:secret:prod/db-AbCdEf',
    'net user bob /domain',
    'C:\\Windows\\System32\\Tokens\\secret.txt',
    '/usr/share/Local1/Applications/Some2Thing',
    'Virtual Account:\t\tNo\r\n\tElevated Token:\t\tYes',
    'passwordReset for bob was requested',
    'https://example.com/path?x=1',
  ])('%s', (text) => {
    expect(redactText(text)).toBe(text);
  });
});

test.each([
  ['a.'],
  ['password '],
  ['curl -u '],
  ['-----BEGIN PRIVATE KEY'],
  ['eyJ'],
  ['x=:'],
  ['eyJ0000000-'],
  ['\t', 'authorization:'],
  ['https://'],
])('takes linear time for repetitions of %j', (part, before = '') =>
  expectLinearTime(repeated(part, before), redactText, 200_000),
);
