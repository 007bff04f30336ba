import { expect, test } from 'vitest';
import { detectPlatforms } from './product-platforms.ts';

test.each([
  ['Windows hosts run it. On Windows it uses PowerShell.', ['windows']],
  ['A Linux mention alone says little.', []],
  [`${'Windows '.repeat(30)} and Linux, Linux`, ['windows']],
  ['The implant infects Windows and Linux servers.', ['windows', 'linux']],
  ['The fix is for Windows, and the report has a word on Linux.', []],
  ['ESXi and vCenter servers, with Linux lockers for Linux', ['linux', 'esxi']],
  ['IOS XE and iOS XE are no phones; an iPhone and an iPad are', ['ios']],
])('detects the platforms of: %s', (text, expected) => {
  expect(detectPlatforms(text)).toEqual(expected);
});
