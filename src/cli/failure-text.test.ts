import { expect, test } from 'vitest';
import { appError, fieldError } from '../platform/lib/errors.ts';
import { failureText } from './failure-text.ts';

test('one field is named once', () => {
  const error = fieldError('/schedule', 'invalid_cron', 'must not run more often than hourly');
  expect(failureText(error)).toBe('/schedule: must not run more often than hourly');
});

test('several fields stand under what is wrong; all else is its message', () => {
  const errors = ['a', 'b'].map((name) => ({ pointer: `/${name}`, code: 'invalid', detail: `${name} is no number` }));
  expect(failureText(appError('validation_failed', 'Not valid.', { errors }))).toBe(
    'Not valid.\n  /a: a is no number\n  /b: b is no number',
  );
  expect(failureText(appError('not_found', 'There is no source 1.'))).toBe('There is no source 1.');
  expect([failureText(new Error('gone')), failureText('gone')]).toEqual(['gone', 'gone']);
});
