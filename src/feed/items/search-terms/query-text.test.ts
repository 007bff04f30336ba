import fc from 'fast-check';
import { expect, test } from 'vitest';
import { toQueryText } from './query-text.ts';

test.each([
  ['Emotet AND TrickBot', 'Emotet TrickBot'],
  ['emotet && trickbot', 'emotet trickbot'],
  ['emotet OR trickbot', 'emotet or trickbot'],
  ['emotet || trickbot', 'emotet or trickbot'],
  ['trickbot NOT emotet', 'trickbot -emotet'],
  ['trickbot AND NOT "cobalt strike"', 'trickbot -"cobalt strike"'],
  ['trickbot -emotet', 'trickbot -emotet'],
  ['(emotet OR qakbot) AND phishing', 'emotet phishing or qakbot phishing'],
  [
    'loader (emotet or ("ice d" or qakbot)) -bank',
    'loader emotet -bank or loader "ice d" -bank or loader qakbot -bank',
  ],
  ['(emotet or qakbot', 'emotet or qakbot'],
  ['foo(bar) baz', 'foo(bar baz'],
  ['(a1 or b1) (a2 or b2) (a3 or b3) (a4 or b4) (a5 or b5)', 'a1 or b1 a2 or b2 a3 or b3 a4 or b4 a5 or b5'],
  ['vulnerability in the Windows kernel', 'vulnerability Windows kernel'],
  ['the', 'the'],
  ['to be or not to be', 'to be or not'],
  ['IT at IS', 'IT IS'],
  ['"the sum of"', '"the sum of"'],
  ['the -emotet', 'the -emotet'],
  ['cve 2021 44228', 'CVE-2021-44228'],
  ['CVE_2021_44228 log4j', 'CVE-2021-44228 log4j'],
  ['2021-44228 -2021-45046', 'CVE-2021-44228 -CVE-2021-45046'],
  ['1999-12-31', '1999-12-31'],
  ['hxxps://evil[.]example/Gate.php seen', 'evil.example/Gate.php seen'],
  ['OR emotet OR', 'emotet'],
  ['CVE‑2021‑44228', 'CVE-2021-44228'],
  ['CVE–2021–44228', 'CVE-2021-44228'],
  ['“cobalt strike” beacon', '"cobalt strike" beacon'],
  ['O’Brien…', "O'Brien"],
  ['🚨 ransomware 💀', 'ransomware'],
  ['🙂', ''],
  ['Ｌｏｇ４ｊ', 'Log4j'],
  ['log\u200b4j\u00a02', 'log4j 2'],
  ['نظام فدية', 'نظام فدية'],
  ['勒索', '勒索'],
  ['勒索软件', '"勒索 索软 软件"'],
  ['件', '件'],
  ['log4j漏洞 攻击者', 'log4j 漏洞 "攻击 击者"'],
  ['"勒索软件 log4j"', '"勒索 索软 软件 件 log4j"'],
  ['"勒索软件', '"勒索 索软 软件"'],
  ['emotet -勒索软件', 'emotet -"勒索 索软 软件"'],
  ['漏洞，攻击。', '漏洞 攻击'],
  ['(漏洞 or 攻击) NOT 银行', '漏洞 -"银行" or 攻击 -"银行"'],
  ['มัลแวร์', '"มัล ลแ แว วร์"'],
  ['ランサムウェア', '"ラン ンサ サム ムウ ウェ ェア"'],
  ['  ', ''],
])('rewrites %s to %s', (text, expected) => {
  expect(toQueryText(text)).toBe(expected);
});

test('returns a bounded text for every search', () => {
  const part = fc.constantFrom('(', ')', ' ', 'or', 'AND', 'NOT', '-', '"', 'a', 'bc', 'the');
  fc.assert(
    fc.property(fc.array(part, { maxLength: 200 }), (parts) => {
      const text = parts.join('');
      expect(toQueryText(text).length).toBeLessThanOrEqual(20 * (text.length + 1));
    }),
  );
});
