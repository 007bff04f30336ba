import { expect, test } from 'vitest';
import { listVersionRanges } from './csaf-products.ts';

test.each([
  ['vers:npm/>=1.2|<1.5', ['>= 1.2, < 1.5']],
  ['vers:generic/1.0|>=1.2|<1.5|>=2.0|<=2.3|3.0', ['1.0', '>= 1.2, < 1.5', '>= 2.0, <= 2.3', '3.0']],
  ['vers:rpm/<2.4-3.el9', ['< 2.4-3.el9']],
  ['vers:deb/>1%3A2.0', ['> 1:2.0']],
  ['vers:semver/>=1.0.0|!=1.2.0|<2.0.0', ['>= 1.0.0, != 1.2.0, < 2.0.0']],
  ['vers:all/*', ['*']],
  ['vers:intdot/=4.1', ['4.1']],
  ['<V3.0.1', ['<V3.0.1']],
  ['1.2', ['1.2']],
  ['1.x | 2.x', ['1.x | 2.x']],
  ['vers:npm/', ['vers:npm/']],
])('shows %s as %j', (stated, ranges) => {
  expect(listVersionRanges(stated)).toEqual(ranges);
});
