import fc from 'fast-check';
import { expect, test } from 'vitest';
import { showLine, showText } from './show-text.ts';

test('escapes control characters and marks of direction, and nothing else', () => {
  expect(showText('a\u001b[2J\u0000\u007f\u009b\rb')).toBe(String.raw`a\u001b[2J\u0000\u007f\u009b\u000db`);
  expect(showText('invoice\u202Efdp.exe\u2066\u2069\u200E\u200F\u061C')).toBe(
    String.raw`invoice\u202efdp.exe\u2066\u2069\u200e\u200f\u061c`,
  );
  expect(showText('é 日本 🙂 عربي\t1\r\n2\n3')).toBe('é 日本 🙂 عربي\t1\n2\n3');
  expect(showLine('a\tb\nc')).toBe(String.raw`a\u0009b\u000ac`);
});

test('shows nothing that a terminal obeys, and keeps the value of JSON', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(showLine(text)).not.toMatch(/[\p{Cc}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/u);
      expect(JSON.parse(showText(JSON.stringify({ text })))).toEqual({ text });
    }),
  );
});
