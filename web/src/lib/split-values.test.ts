import { expect, test } from 'vitest';
import { splitValues } from './split-values.ts';

test('reads pasted values between lines, commas and quotes, each once', () => {
  expect(splitValues('192.0.2.1, "evil.example"\n<192.0.2.1>;\tb|c ')).toEqual(['192.0.2.1', 'evil.example', 'b', 'c']);
  expect(splitValues(' \n')).toEqual([]);
});
