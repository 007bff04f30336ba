import { expect, test } from 'vitest';
import { atFileEnd, endFile } from './at-file-end.ts';

test('what a test registers is called, the last first, and a failure keeps none from being called', async () => {
  const called: string[] = [];
  atFileEnd(() => called.push('first'));
  atFileEnd(() => Promise.reject(new Error('stuck')));
  atFileEnd(() => called.push('last'));
  await expect(endFile()).rejects.toMatchObject({ errors: [{ message: 'stuck' }] });
  expect(called).toEqual(['last', 'first']);
});
