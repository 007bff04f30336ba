import { expect, test } from 'vitest';
import { rememberResults } from './remember-results.ts';

test('computes a result once, also an undefined one', () => {
  const computed: string[] = [];
  const find = rememberResults((text) => {
    computed.push(text);
    return text === 'a' ? 1 : undefined;
  }, 10);
  expect(['a', 'b', 'a', 'b'].map(find)).toEqual([1, undefined, 1, undefined]);
  expect(computed).toEqual(['a', 'b']);
});

test('never remembers more than the given number of texts', () => {
  const computed: string[] = [];
  const find = rememberResults((text) => {
    computed.push(text);
    return text;
  }, 2);
  expect(['a', 'b', 'c', 'c', 'a'].map(find)).toEqual(['a', 'b', 'c', 'c', 'a']);
  expect(computed).toEqual(['a', 'b', 'c', 'a']);
});

test('does not remember long texts, which could take any amount of memory', () => {
  let computed = 0;
  const measure = rememberResults((text) => {
    computed += 1;
    return text.length;
  }, 10);
  expect(['x'.repeat(512), 'x'.repeat(512), 'x'.repeat(513), 'x'.repeat(513)].map(measure)).toEqual([
    512, 512, 513, 513,
  ]);
  expect(computed).toBe(3);
});
