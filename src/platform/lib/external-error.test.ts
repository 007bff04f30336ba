import { expect, test } from 'vitest';
import { ModelError } from '../models/model-error.ts';
import { readModelSettings } from '../models/model-settings.ts';
import type { ModelEntry } from '../models/providers.ts';
import { toModelError } from '../models/calls/model-call.ts';
import { ExternalError, internalReason, isProgramFault, reasonOf, withinLimits } from './external-error.ts';
import { fromOutcomeError, toOutcomeError } from './threads/thread-protocol.ts';

const mistake = new TypeError('x is not a function');
const unreachable = new TypeError('fetch failed', { cause: new Error('ECONNREFUSED') });

test('shows the reason of another system, and none of its own', () => {
  expect(reasonOf(new ExternalError('the document is empty'))).toBe('the document is empty');
  expect(reasonOf(mistake)).toBe(internalReason);
});

const { m: entry } = readModelSettings('{"m":{"provider":"openai-compatible","model":"m","baseUrl":"http://127.0.0.1:1"}}', {}) as { m: ModelEntry }; // prettier-ignore

test('tells a mistake of the program from a failed request', () => {
  expect([isProgramFault(mistake), isProgramFault(unreachable), isProgramFault(new Error('ended'))]).toEqual([true, false, false]);
  expect(toModelError(mistake, 'm', entry, false)).toBe(mistake);
  expect(toModelError(unreachable, 'm', entry, false)).toBeInstanceOf(ModelError);
}); // prettier-ignore

test('keeps errors of other systems between threads', () => {
  const passed = (error: unknown) => fromOutcomeError((toOutcomeError(error) as { error: never }).error);
  expect(passed(new ExternalError('no list'))).toEqual(new ExternalError('no list'));
  expect(passed(new ExternalError('no list'))).toBeInstanceOf(ExternalError);
  expect(passed(mistake)).not.toBeInstanceOf(ExternalError);
});

test('a document that exhausts the stack cannot be read', () => {
  const recurse = (): number => recurse() + 1;
  expect(() => withinLimits(recurse)).toThrow(ExternalError);
  expect(() => withinLimits(() => { throw mistake; })).toThrow(mistake);
}); // prettier-ignore
