import { expect, test } from 'vitest';
import { appError, fieldError } from '../../platform/lib/errors.ts';
import { describeFailure } from './failures.ts';

test('puts an error of one field on one line', () => {
  const error = fieldError('/schedule', 'invalid_cron', 'must not run more often than hourly');
  expect(describeFailure(error)).toBe('/schedule: must not run more often than hourly');
});

test('lists several fields below the message and returns the message of other errors', () => {
  const errors = ['a', 'b'].map((name) => ({
    pointer: `/${name}`,
    code: 'invalid',
    detail: `${name} is not a number`,
  }));
  expect(describeFailure(appError('validation_failed', 'Not valid.', { errors }))).toBe(
    'Not valid.\n  /a: a is not a number\n  /b: b is not a number',
  );
  expect(describeFailure(appError('not_found', 'There is no source 1.'))).toBe('There is no source 1.');
  expect([describeFailure(new Error('gone')), describeFailure('gone')]).toEqual(['gone', 'gone']);
});
