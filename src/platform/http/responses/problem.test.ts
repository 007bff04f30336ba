import { expect, test } from 'vitest';
import { appError } from '../../lib/errors.ts';
import { sendProblem } from './problem.ts';

/** Sends an error for a request whose connection is open or closed. Returns the status and the number of logged errors. */
function send(error: unknown, isClosed: boolean): { status: number; logged: number } {
  const sent = { status: 0, logged: 0 };
  const reply = new Proxy({} as Record<string, unknown>, {
    get: (_target, name) => (value: unknown) => {
      if (name === 'code') sent.status = value as number;
      return reply;
    },
  });
  const request = {
    raw: { socket: { destroyed: isClosed } },
    log: { error: () => (sent.logged += 1), info: () => undefined },
    routeOptions: {},
    url: '/api/logs/search',
    id: 'r',
  };
  sendProblem(error, request as never, reply as never);
  return sent;
}

const cancelled = appError('unavailable', 'The query was cancelled.');
const reset = Object.assign(new Error('aborted'), { code: 'ECONNRESET' });
const aborted = new DOMException('This operation was aborted', 'AbortError');
const defect = new TypeError('x is undefined');

test.each([
  ['a cancelled query', cancelled, 503],
  ['an aborted request', reset, 503],
  ['an aborted call', aborted, 500],
])('%s is not a failure after the client left', (_name, error, status) => {
  expect(send(error, true)).toEqual({ status: 499, logged: 0 });
  expect(send(error, false)).toEqual({ status, logged: 1 });
});

test('logs a defect even if the client left', () => {
  expect(send(defect, true)).toEqual({ status: 500, logged: 1 });
});
