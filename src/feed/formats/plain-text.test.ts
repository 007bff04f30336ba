import { expect, test } from 'vitest';
import { expectLinearTime, repeated } from '../../../test/support/linear-time.ts';
import { toPlainText } from './record-fields.ts';

test.each([
  ['### Impact\nFoo is **vulnerable** to `XSS`.\n\n### Patches\nUpdate.', 'Foo is vulnerable to XSS.\n\n\nUpdate.'],
  ['---\n_-= Per source details =-_\n\n## Source: one (abc)\nThe package is malicious.', 'The package is malicious.'],
  ['See [Emotet](https://reports.example/S0367) is a trojan.(Citation: A report)', 'See Emotet is a trojan.'],
  ['- One\n* Two\n1. Three', 'One\nTwo\nThree'],
  ['<p>Foo uses <code>Run</code> keys.</p>', 'Foo uses  Run  keys.'],
  ['A page with a <script> tag and a_b_c stays.', 'A page with a <script> tag and a_b_c stays.'],
  ['** DISPUTED ** A vulnerability in x * y.', '** DISPUTED ** A vulnerability in x * y.'],
  ['The *process* library and 2 * 3 * 4.', 'The process library and 2 * 3 * 4.'],
  ['# Only a heading', '# Only a heading'],
])('removes the marks of %j', (text, plain) => expect(toPlainText(text)).toBe(plain));

test.each(['[', '**a', '`', '# ', '![', '(Citation: ', '<p '])('takes linear time for repetitions of %j', (unit) =>
  expectLinearTime(repeated(unit), toPlainText, 400_000),
);
