import { expect, test } from 'vitest';
import { parseRules } from './parse-rules.ts';
import { matchesEvent } from '../../../../test/support/detection/sigma/sigma-events.ts';

const rule = (detection: string, head = ''): string =>
  `title: t\nlogsource: {product: windows}\n${head}detection:\n${detection}`;
const indent = (text: string): string => text.replaceAll(/^/gm, '  ');
const parse = (detection: string) => parseRules(rule(indent(detection)), { admins: ['root', 'adm*'] })[0]!;

/** A search identifier with values that match, and values that do not. */
const matching: [selection: string, yes: unknown[], no: unknown[]][] = [
  ['f: abc', ['abc', 'ABC'], ['abcd', 'xabc', '', null, 1]],
  ['f: a*c', ['ac', 'abbbc', 'A*C'], ['abcd', 'bac']],
  ['f: a?c', ['abc', 'a😀c', 'a?c'], ['ac', 'abbc']],
  [String.raw`f: 'a\*c'`, ['a*c'], ['abc', String.raw`a\bc`]],
  [String.raw`f: 'a\\*c'`, [String.raw`a\c`, String.raw`a\xyzc`], ['abc', 'a*c']],
  [String.raw`f: 'a\\\*c'`, [String.raw`a\*c`], [String.raw`a\bc`]],
  [String.raw`f: 'a\b\\c'`, [String.raw`a\b\c`], [String.raw`a\b\\c`]],
  ['f|contains: b', ['abc', 'B'], ['ac', null]],
  ['f|startswith: ab', ['abc', 'AB'], ['cab']],
  ['f|endswith: bc', ['abc', 'xBC'], ['bca']],
  ['f|contains|all: [a, b]', ['ab', 'b-a'], ['a', 'b']],
  ['f|contains: [a, b]', ['a', 'b'], ['c']],
  ['f|cased: Abc', ['Abc'], ['abc']],
  ['f|contains|cased: B', ['aBc'], ['abc']],
  ['f: null', [null], ['', 'x']],
  ['f: [null, x]', [null, 'x'], ['']],
  ["f: ''", [''], [null, ' ']],
  ['f: 4688', [4688, '4688'], [46_880, '04688']],
  ['f: true', [true, 'True'], [false, 'yes']],
  ['f|exists: true', ['', 0, false], [null]],
  ['f|exists: false', [null], ['']],
  ['f|re: ^a.c$', ['abc'], ['ABC', 'abcd']],
  ['f|re|i: ^a.c$', ['ABC'], ['a\nc']],
  ['f|re|i|s: ^a.c$', ['A\nC'], ['ab']],
  ['f|re|m: ^b$', ['a\nb'], ['ab']],
  ['f|cidr: 10.0.0.0/8', ['10.1.2.3'], ['11.1.2.3', 'x', null]],
  ['f|cidr: fe80::/10', ['fe80::1'], ['10.1.2.3']],
  ['f|gt: 5', [6, '5.5'], [5, 'x', null]],
  ['f|gte: 5', [5, '5'], [4.9]],
  ['f|lt: -1', [-2], [0]],
  ['f|lte: 5', [5], [6]],
  ['f|neq: a', ['b', null], ['A']],
  ['f|base64: foobar', ['Zm9vYmFy'], ['foobar']],
  ['f|base64offset|contains: foo bar', ['xZm9vIGJhc', 'aHRZvbyBiYX', 'Zvb28gYmFyZm9vIGJhc'], ['foo bar']],
  ['f|wide|base64offset|contains: ping', ['cABpAG4AZw', 'xwAGkAbgBnA', 'BwAGkAbgBnA', 'AAcABpAG4AZwA'], ['ping']],
  ['f|utf16|base64: a', ['//5hAA=='], []],
  ['f|utf16be|base64: a', ['AGE='], []],
  [
    'f|contains|windash: " -f "',
    ['x -f y', 'x /f y', 'x \u2013f y', 'x \u2014f y', 'x \u2015f y'],
    ['x f y', 'x +f y'],
  ],
  ['f|windash|contains: a-b', ['a-b'], ['a/b']],
  ['f|fieldref: g', ['G-value', 'g-value'], ['x', null]],
  ['f|fieldref|startswith: g', ['g-value and more'], ['more g-value']],
  ['f|fieldref|endswith: g', ['more g-value'], ['g-value more']],
  ['f|fieldref|contains: g', ['x g-value x'], ['x']],
  ['f|expand: "%admins%"', ['root', 'administrator'], ['user', '%admins%']],
  ['f|expand|endswith: "/%admins%"', ['/home/root'], ['root']],
  ['f|hour: 5', ['2024-06-01T05:59:00Z', '2024-06-01 05:00:00'], ['2024-06-01T06:00:00Z', 'x']],
  ['f|minute: 59', ['2024-06-01T05:59:00Z'], ['2024-06-01T05:58:00Z']],
  ['f|day: 1', ['2024-06-01'], ['2024-06-02']],
  ['f|week: 53', ['2021-01-03T00:00:00Z'], ['2021-01-04T00:00:00Z']],
  ['f|month: 6', ['2024-06-01T05:59:00Z'], ['2024-07-01']],
  ['f|year: 2024', ['2024-06-01T05:59:00+02:00'], ['2023-12-31T23:59:59Z']],
];

test.each(matching)('matches %s', (selection, yes, no) => {
  const parsed = parse(`s:\n  ${selection}\ncondition: s`);
  if (parsed.kind !== 'rule') throw new Error(JSON.stringify(parsed));
  const { condition } = parsed;
  const match = (f: unknown): boolean => matchesEvent(condition, { f, g: 'G-value' });
  expect(yes.filter((value) => !match(value))).toEqual([]);
  expect(no.filter((value) => match(value))).toEqual([]);
});

const searches = 'a: {f|contains: a}\nb1: {f|contains: b}\nb2: {f|contains: c}\n_x: {f|contains: x}';
const conditions: [condition: string, yes: string[], no: string[]][] = [
  ['a', ['a'], ['b']],
  ['not a', ['b'], ['a']],
  ['not not a', ['a'], ['b']],
  ['a and not b1 or b2', ['a', 'c', 'ac'], ['ab', 'b']],
  ['a and not (b1 or b2)', ['a'], ['ab', 'ac', 'b']],
  ['a or b1 and b2', ['a', 'bc'], ['b', 'c']],
  ['1 of b*', ['b', 'c'], ['a', 'x']],
  ['any of b*', ['b'], ['a']],
  ['all of b*', ['bc'], ['b', 'c']],
  ['2 of them', ['ab', 'bc', 'ac'], ['a', 'ax']],
  ['all of them', ['abc'], ['ab']],
  ['1 of them', ['a'], ['x']],
  ['1 of _*', ['x'], ['a']],
  ['not 1 of b?', ['a'], ['b', 'c']],
  ['a AND NOT b1', ['a'], ['ab']],
  ['[a, b1]', ['a', 'b'], ['c']],
];

test.each(conditions)('evaluates the condition %s', (condition, yes, no) => {
  const parsed = parse(`${searches}\ncondition: ${condition}`);
  if (parsed.kind !== 'rule') throw new Error(JSON.stringify(parsed));
  const matched = [...yes, ...no].filter((f) => matchesEvent(parsed.condition, { f }));
  expect(matched).toEqual(yes);
});

test('names search identifiers that the condition does not use', () => {
  const unused = (condition: string): unknown =>
    (parse(`${searches}\ncondition: ${condition}`) as { unused?: string[] }).unused;
  expect([unused('a and 1 of b*'), unused('[a, b1]'), unused('1 of them'), unused('a and all of _*')]).toEqual([
    ['_x'],
    ['b2', '_x'],
    ['_x'],
    ['b1', 'b2'],
  ]);
});

test('reads keywords, lists of maps and nested lists', () => {
  const keywords = parse("k: ['evil tool', 'x*y']\ns:\n  - {f: 1, g: 2}\n  - {h: [3, 4]}\ncondition: k or s");
  if (keywords.kind !== 'rule') throw new Error(JSON.stringify(keywords));
  const { condition } = keywords;
  const events = [{ m: 'an EVIL tool!' }, { m: 'x and y' }, { f: 1, g: 2 }, { h: 4 }, { f: 1 }, { m: 'tool' }];
  expect(events.map((event) => matchesEvent(condition, event))).toEqual([true, true, true, true, false, false]);
});

/** A document, the line of its error and a part of the reason. */
const invalid: [text: string, line: number, reason: RegExp][] = [
  ['title: t\ndetection:\n  s: {f: 1}\n  condition: s', 1, /logsource is missing/],
  ['logsource: {product: x}\ndetection: {s: {f: 1}, condition: s}', 1, /title is missing/],
  [rule('  s: {f: 1}\n  condition: t'), 5, /"t" is not a search identifier.*Identifiers: s/],
  [rule('  s: {f: 1}\n  condition: s and'), 5, /ends unexpectedly/],
  [rule('  s: {f: 1}\n  condition: (s'), 5, /ends unexpectedly|not closed/],
  [rule('  s: {f: 1}\n  condition: s | count() > 5'), 5, /correlation rule/],
  [rule('  s: {f: 1}\n  condition: 1 of x*'), 5, /no search identifier matches/],
  [rule('  s: {f: 1}'), 3, /condition is missing/],
  [rule('  condition: s'), 3, /no search identifier/],
  [rule('  s:\n    f|contain: 1\n  condition: s'), 5, /"contain" is unknown; did you mean contains/],
  [rule('  s:\n    f|cidr:\n      - 10.0.0.0/8\n      - 10.0.0.0/99\n  condition: s'), 7, /not a network/],
  [rule('  s:\n    f|base64: a*b\n  condition: s'), 5, /wildcards/],
  [rule('  s:\n    f|expand: "%nobody%"\n  condition: s'), 5, /%nobody% has no values/],
  [rule('  s:\n    f|gt: many\n  condition: s'), 5, /requires a number/],
  [rule('  s:\n    f: {a: 1}\n  condition: s'), 5, /scalar/],
  [rule('  s: {}\n  condition: s'), 4, /empty/],
  [rule('  s: {f: []}\n  condition: s'), 4, /the list of f is empty/],
  [rule("  s: {f|contains: ''}\n  condition: s"), 4, /contains requires a text/],
  [rule("  s: {f|startswith: ['a', '']}\n  condition: s"), 4, /startswith requires a text/],
  [rule("  s: {f|re: ''}\n  condition: s"), 4, /re requires an expression/],
  [rule("  s: ['a', '']\n  condition: s"), 4, /empty keyword/],
  [rule('  s: {f|hour|gte: 5}\n  condition: s'), 4, /gte cannot follow hour/],
  [rule('  s: {f|cidr|contains: 10.0.0.0/8}\n  condition: s'), 4, /contains cannot follow cidr/],
  [rule('  s: {f|exists|contains: true}\n  condition: s'), 4, /contains cannot follow exists/],
  [rule('  s: {f|gt|endswith: 5}\n  condition: s'), 4, /endswith cannot follow gt/],
  [
    'title: t\nlogsource: {product: x, catgory: y}\ndetection: {s: {f: 1}, condition: s}',
    2,
    /"catgory"; did you mean category/,
  ],
  [
    'title: t\ncorrelation:\n  type: event_count\n  rules: [a]\n  group_by: [x]\n  timespan: 5m\n  condition: {gte: 1}',
    5,
    /"group_by"; did you mean group-by/,
  ],
  [rule('  s: {f: 1}\n  timeframe: 5m\n  condition: s'), 5, /timeframe/],
  [rule('  s: {f: 1}\n  condition: s', 'level: severe\n'), 3, /level must be one of/],
  [rule('  s: {f: 1}\n  s: {f: 2}\n  condition: s'), 5, /unique/],
  ['title: t\n  x: [', 1, /./],
  ['- a\n- b', 1, /must be a map/],
  ['title: t\ncorrelation: {type: sum}', 2, /type must be one of/],
  ['title: t\ncorrelation:\n  type: event_count\n  rules: [a]\n  timespan: soon\n  condition: {gte: 1}', 5, /timespan/],
  [
    'title: t\ncorrelation:\n  type: value_count\n  rules: [a]\n  timespan: 5m\n  condition: {gte: 1}',
    6,
    /requires a field/,
  ],
];

test.each(invalid)('reports the line and the reason of an error (%#)', (text, line, reason) => {
  const [document] = parseRules(`# comment\n---\n${text}\n`);
  if (document?.kind !== 'invalid') throw new Error(`valid: ${JSON.stringify(document)}`);
  expect(document.errors[0]!.line).toBe(line + 2);
  expect(document.errors[0]!.message).toMatch(reason);
});

test('an invalid document does not affect the others', () => {
  const valid = rule('  s: {f: 1}\n  condition: s');
  const kinds = parseRules([valid, 'title: broken', '', valid].join('\n---\n')).map(({ kind }) => kind);
  expect(kinds).toEqual(['rule', 'invalid', 'rule']);
});

test('merges global documents and repeats', () => {
  const text = [
    'action: global\ntitle: t\nlogsource: {product: windows}\ndetection: {condition: s}',
    'detection: {s: {f: 1}}',
    'logsource: {service: security}\ndetection: {s: {f: 2}}',
    'action: repeat\ntitle: again',
    'action: reset',
    'detection: {s: {f: 3}}',
  ].join('\n---\n');
  const documents = parseRules(text);
  expect(documents.map(({ kind, title }) => [kind, title])).toEqual([
    ['rule', 't'],
    ['rule', 't'],
    ['rule', 'again'],
    ['invalid', null],
  ]);
  expect(documents[2]).toMatchObject({ logSource: { product: 'windows', service: 'security' } });
});
