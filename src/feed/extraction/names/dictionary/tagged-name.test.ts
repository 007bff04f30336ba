import { expect, test } from 'vitest';
import { findTaggedName } from './resolve-name.ts';

test.each(['cobalt strike', 'CobaltStrike', 'malware:emotet', 'lockbit'])('finds the name of the tag %s', (tag) => {
  expect(findTaggedName(tag)).toMatchObject({ kind: 'malware' });
});

test.each(['cobalt', 'play', 'august', 'c2 server', 'spear phishing', 'no name', 'x'.repeat(80)])(
  'the tag %s is no name',
  (tag) => {
    expect(findTaggedName(tag)).toBeUndefined();
  },
);
