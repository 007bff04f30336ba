import { expect, test } from 'vitest';
import { appError } from '../../lib/errors.ts';
import { toAppError } from './request-errors.ts';

const errorWith = (fields: object, message = 'something internal'): ReturnType<typeof toAppError> =>
  toAppError(Object.assign(new Error(message), fields) as never);

test.each([
  ['53100', 'insufficient_storage', 507],
  ['ENOSPC', 'insufficient_storage', 507],
  ['EDQUOT', 'insufficient_storage', 507],
  ['40P01', 'unavailable', 503],
  ['57P01', 'unavailable', 503],
  ['FST_ERR_BAD_URL', 'malformed_request', 400],
  ['23505', 'internal', 500],
])('an error with the code %s is %s', (code, expected, status) => {
  expect(errorWith({ code })).toMatchObject({ code: expected, status });
});

test('recognizes a full disk by the text of the engine', () => {
  expect(errorWith({}, 'IO Error: Could not write file "x": No space left on device').status).toBe(507);
});

test.each([
  [400, 400],
  [403, 404],
  [404, 404],
  [408, 408],
  [412, 412],
  [413, 413],
  [414, 414],
  [415, 415],
  [416, 416],
  [417, 417],
  [431, 431],
  [418, 400],
  [500, 500],
  [503, 500],
])('an error that a plugin marks with %i is a %i without its message', (statusCode, status) => {
  const error = errorWith({ statusCode });
  expect(error.status).toBe(status);
  expect(error.message).not.toContain('something');
});

test('keeps an error of the closed set', () => {
  const error = appError('conflict', 'x');
  expect(toAppError(error as never)).toBe(error);
});

test('says how large a body may be', () => {
  const error = { code: 'FST_ERR_CTP_BODY_TOO_LARGE', statusCode: 413 };
  expect(toAppError(Object.assign(new Error(), error) as never, {}, 1_048_576).message).toContain('1,048,576 bytes');
});
