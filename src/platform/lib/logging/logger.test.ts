import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { formatLogLine } from './logger.ts';

const format = (entry: object): string => stripVTControlCharacters(formatLogLine(`${JSON.stringify(entry)}\n`));

test('formats a line for people', () => {
  expect(format({ level: 30, time: 0, requestId: 'a', status: 404, msg: 'request refused' })).toBe(
    '00:00:00.000 info  request refused requestId=a status=404\n',
  );
});

test('puts the stack of an error below the line', () => {
  expect(format({ level: 50, time: 0, err: { message: 'gone', stack: 'Error: gone\n    at f' }, msg: 'failed' })).toBe(
    '00:00:00.000 error failed\n  Error: gone\n      at f\n',
  );
});

test('returns what is not JSON unchanged', () => {
  expect(formatLogLine('plain text\n')).toBe('plain text\n');
});
