import { expect, test } from 'vitest';
import { expectLinearTime, repeated } from '../../../test/support/linear-time.ts';
import { findRules } from './report-rules.ts';

const yara = `import "pe"

private rule Loader_2026 : apt loader
{
  meta:
    description = "closes } early \\" {"
  strings:
    $a = { E8 ?? 00 { } 90 }
    $b = /conf\\/{2,}"/ nocase // }
  condition: /* } */
    pe.number_of_sections > 10 / 2 and any of them
}`;
const snort =
  'alert tcp $HOME_NET any -> [203.0.113.7,198.51.100.0/24] 443 (msg:"Loader (stage 2\\)"; content:"|28|x)"; sid:1000001; rev:1;)';
const suricata =
  'alert dns $HOME_NET any -> any any (msg:"Loader domain"; dns.query; content:"evil"; \\\n  sid:1000002;)';
const snort3 = 'alert http ( msg:"Loader beacon"; http_uri; content:"/gate",fast_pattern; sid:1000003; )';
const sigma = `title: "Shadow copies deleted"
id: 5f1d3b52-0000-4000-8000-000000000001
# By the incident team
tags:
- attack.t1490
logsource:
    category: process_creation
    product: windows

detection:
    selection:
        CommandLine|contains: 'delete shadows'
    condition: selection
level: high`;
const indented = sigma.replaceAll(/^/gm, '    ').replace('"Shadow copies deleted"', 'Indented');

test('finds the rules of a report in its order, each as it stands in the text', () => {
  const text = [
    '# A loader',
    'title: is a word of this report, and so are rule and alert (see below).',
    'The rule Loader { is no rule } without a condition: it ends here.',
    `\`\`\`yara\n${yara}\n\`\`\``,
    `- ${snort}\n${suricata}\n${snort3}`,
    `\`\`\`\n${sigma}\n---\n${sigma.replace('"Shadow copies deleted"', 'Second')}\n\`\`\``,
    `Indented:\n${indented}`,
    'level: of threat is high.',
    'title: Without a log source\ndetection:\n  a: 1',
    'alert tcp any any -> any any (msg:"Without an end"; sid:5;',
  ].join('\n\n');
  const rules = findRules(text);
  expect(rules.map(({ type, name }) => [type, name])).toEqual([
    ['yara', 'Loader_2026'],
    ['snort', 'Loader (stage 2\\)'],
    ['suricata', 'Loader domain'],
    ['snort', 'Loader beacon'],
    ['sigma', 'Shadow copies deleted'],
    ['sigma', 'Second'],
    ['sigma', 'Indented'],
  ]);
  expect(rules.slice(0, 5).map((rule) => rule.text)).toEqual([yara, snort, suricata, snort3, sigma]);
  for (const { text: rule, charSpan } of rules) expect(text.slice(charSpan.start, charSpan.end)).toBe(rule);
});

test('finds at most 100 rules, and none that is longer than 65,536 characters', () => {
  expect(findRules(repeated(`${snort}\n`)(200_000))).toHaveLength(100);
  expect(findRules(`title: Long\nlogsource: {}\ndetection:\n${repeated('  a: b\n')(66_000)}`)).toEqual([]);
  expect(findRules(yara.replace('nocase', `// ${'x'.repeat(66_000)}\n`))).toEqual([]);
});

test.each([
  ['rule a {', 'condition: '],
  ['rule a : b c ', 'condition: '],
  ['import "pe"\n', 'condition: '],
  ['rule a { /* ', 'condition: '],
  ['"\\', `${yara.slice(0, 60)}condition: `],
  ['/', 'rule a { condition: '],
  ['alert tcp ', 'sid: '],
  ['alert tcp a (\n', 'sid: '],
  ['alert tcp a ("\n', 'sid: '],
  [';  a.', 'alert tcp a (sid:1;'],
  ['title: a\n', 'detection:\n'],
  ['title: a\nlogsource: b\ndetection: c\n', ''],
  ['  \n', 'title: a\ndetection:\n'],
])('takes linear time for repetitions of %j', (unit, before) =>
  expectLinearTime(repeated(unit, before), findRules, 400_000),
);
