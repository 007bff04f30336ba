import { expect, test } from 'vitest';
import { expectLinearTime, measureGrowth, repeated } from './linear-time.ts';

const quadratic = (text: string): number => {
  let found = 0;
  for (let start = 0; start < text.length; start += 1)
    for (let end = start; end < text.length; end += 1) if (text[end] === 'b') found += 1;
  return found;
};
const linear = (text: string): number => text.split('a').length;

test('tells work whose time grows with the square of the length from linear work', async () => {
  expect(await measureGrowth(repeated('a'), quadratic, 2_400)).toBeGreaterThan(40);
  await expectLinearTime(repeated('a'), linear, 800_000);
  await expectLinearTime(repeated('a'), linear, 8_000);
  const beyondFirst = (text: string): number => linear(text.slice(100_000));
  await expectLinearTime(repeated('a'), beyondFirst, 810_000);
  await expect(expectLinearTime(repeated('a'), quadratic, 2_400)).rejects.toThrow('times as long');
});
