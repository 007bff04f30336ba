import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  parsePattern,
  type Comparison,
  type Literal,
  type ObjectPath,
  type Observation,
  type Qualifier,
} from './pattern.ts';
import { findPatternValues } from './stix-indicators.ts';

/** Prints a tree as a pattern, with parentheses around nested operands. */
function print(observation: Observation): string {
  const qualifiers = observation.qualifiers.map(printQualifier).join('');
  if (observation.kind === 'observation') return `[${printComparison(observation.comparison)}]${qualifiers}`;
  const word = { and: 'AND', or: 'OR', 'followed-by': 'FOLLOWEDBY' }[observation.kind];
  const joined = observation.operands
    .map((operand) => (operand.kind === 'observation' ? print(operand) : `(${print(operand)})`))
    .join(` ${word} `);
  return qualifiers ? `(${joined})${qualifiers}` : joined;
}

function printQualifier(qualifier: Qualifier): string {
  if (qualifier.kind === 'within') return ` WITHIN ${qualifier.seconds} SECONDS`;
  if (qualifier.kind === 'repeats') return ` REPEATS ${qualifier.times} TIMES`;
  return ` START t'${qualifier.start}' STOP t'${qualifier.stop}'`;
}

function printComparison(comparison: Comparison): string {
  if (comparison.kind === 'exists') return `EXISTS ${printPath(comparison.path)}`;
  if (comparison.kind === 'test') {
    const { path, negated, operator, values } = comparison;
    const literals = values.map(printLiteral).join(', ');
    return `${printPath(path)}${negated ? ' NOT' : ''} ${operator} ${operator === 'IN' ? `(${literals})` : literals}`;
  }
  const printOperand = (operand: Comparison): string =>
    operand.kind === 'and' || operand.kind === 'or' ? `(${printComparison(operand)})` : printComparison(operand);
  return comparison.operands.map(printOperand).join(` ${comparison.kind.toUpperCase()} `);
}

const quote = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
const printPath = ({ object, steps }: ObjectPath): string =>
  `${object}:${steps.map((step, index) => (step.startsWith('[') ? step : `${index > 0 ? '.' : ''}${/^[A-Za-z_]\w*$/.test(step) ? step : quote(step)}`)).join('')}`;
const printLiteral = ({ kind, text }: Literal): string =>
  ({ string: quote(text), timestamp: `t'${text}'`, binary: `b'${text}'`, number: text, boolean: text })[kind];

const literal = fc.oneof(
  fc.string({ unit: 'grapheme' }).map((text): Literal => ({ kind: 'string', text })),
  fc.integer().map((value): Literal => ({ kind: 'number', text: String(value) })),
  fc.boolean().map((value): Literal => ({ kind: 'boolean', text: String(value) })),
  fc.constantFrom<Literal>({ kind: 'timestamp', text: '2020-01-01T00:00:00Z' }, { kind: 'binary', text: 'AQID' }),
);
const key = fc
  .oneof(
    fc.constantFrom('value', 'name', 'hashes', 'parent_ref', 'SHA-256', "o'dd \\ key"),
    fc.string({ minLength: 1, unit: 'grapheme' }),
  )
  .filter((text) => !text.startsWith('['));
const path: fc.Arbitrary<ObjectPath> = fc.record({
  object: fc.constantFrom('file', 'domain-name', 'x-thing'),
  steps: fc
    .tuple(key, fc.array(fc.oneof(key, fc.constantFrom('[*]', '[0]', '[12]')), { maxLength: 3 }))
    .map(([first, rest]) => [first, ...rest]),
});
const qualifier: fc.Arbitrary<Qualifier> = fc.oneof(
  fc.nat(1000).map((seconds): Qualifier => ({ kind: 'within', seconds })),
  fc.nat(1000).map((times): Qualifier => ({ kind: 'repeats', times })),
  fc.constant<Qualifier>({ kind: 'start-stop', start: '2020-01-01T00:00:00Z', stop: '2020-01-02T00:00:00Z' }),
);
const trees = fc.letrec<{ comparison: Comparison; observation: Observation }>((tie) => ({
  comparison: fc.oneof(
    { maxDepth: 4 },
    fc.oneof(
      fc.record({ kind: fc.constant('exists' as const), path }),
      fc.record({
        kind: fc.constant('test' as const),
        path,
        negated: fc.boolean(),
        operator: fc.constantFrom(
          '=' as const,
          '!=' as const,
          '<' as const,
          '>=' as const,
          'LIKE' as const,
          'MATCHES' as const,
          'ISSUBSET' as const,
          'ISSUPERSET' as const,
        ),
        values: fc.tuple(literal),
      }),
      fc.record({
        kind: fc.constant('test' as const),
        path,
        negated: fc.boolean(),
        operator: fc.constant('IN' as const),
        values: fc.array(literal, { minLength: 1, maxLength: 3 }),
      }),
    ),
    fc.record({
      kind: fc.constantFrom('and' as const, 'or' as const),
      operands: fc.array(tie('comparison'), { minLength: 2, maxLength: 3 }),
    }),
  ),
  observation: fc.oneof(
    { maxDepth: 3 },
    fc.record({
      kind: fc.constant('observation' as const),
      comparison: tie('comparison'),
      qualifiers: fc.array(qualifier, { maxLength: 2 }),
    }),
    fc.record({
      kind: fc.constantFrom('and' as const, 'or' as const, 'followed-by' as const),
      operands: fc.array(tie('observation'), { minLength: 2, maxLength: 3 }),
      qualifiers: fc.array(qualifier, { maxLength: 1 }),
    }),
  ),
}));

describe('parsePattern', () => {
  test('parses every printed tree back', () => {
    fc.assert(
      fc.property(trees.observation, (tree) => {
        expect(parsePattern(print(tree))).toEqual(tree);
      }),
      { numRuns: 300 },
    );
  });

  test('returns a tree or throws an Error for arbitrary text', () => {
    const noise = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc
        .array(fc.constantFrom('[', ']', '(', ')', "'", 'a:b', ' = ', 'AND', 'OR ', '1', "'x'", '\\', 'IN'))
        .map((parts) => parts.join('')),
    );
    fc.assert(
      fc.property(noise, (text) => {
        try {
          expect(parsePattern(text).kind).toBeTypeOf('string');
        } catch (error) {
          expect((error as Error).message).not.toBe('');
          expect(error).not.toBeInstanceOf(RangeError);
        }
      }),
      { numRuns: 500 },
    );
  });

  test('binds AND tighter than OR, OR tighter than FOLLOWEDBY', () => {
    const shape = (node: Observation | Comparison): unknown =>
      'operands' in node
        ? [node.kind, ...node.operands.map(shape)]
        : node.kind === 'observation'
          ? shape(node.comparison)
          : 'x';
    expect(shape(parsePattern('[a:b = 1 OR a:b = 2 AND a:b = 3]'))).toEqual(['or', 'x', ['and', 'x', 'x']]);
    expect(shape(parsePattern('[a:b = 1] FOLLOWEDBY [a:b = 2] OR [a:b = 3] AND [a:b = 4]'))).toEqual([
      'followed-by',
      'x',
      ['or', 'x', ['and', 'x', 'x']],
    ]);
  });

  test.each([
    '',
    '[',
    '[a:b]',
    "[a:b = 'x'",
    "[a:b = 'x]",
    "a:b = 'x'",
    "[a:b = 'x'] AND",
    '[a:b IN ()]',
    "[a:b = 'x'] WITHIN 5",
    '['.repeat(200),
    '('.repeat(5000),
  ])('rejects %j', (text) => {
    expect(() => parsePattern(text)).toThrow();
  });
});

describe('valuesOfPattern', () => {
  const values = (pattern: string): string[] =>
    findPatternValues(pattern).map((found) =>
      found.kind === 'indicator' ? `${found.type}=${found.normalizedValue}` : `${found.framework}=${found.value}`,
    );
  test.each([
    ["[ipv4-addr:value = '198[.]51.100.7']", ['ipv4=198.51.100.7']],
    ["[ipv4-addr:value = '198.51.100.0/24']", ['observable:cidr=198.51.100.0/24']],
    [
      "[ipv4-addr:value ISSUBSET '198.51.100.0/24' OR url:value ISSUBSET 'http://a.example/']",
      ['observable:cidr=198.51.100.0/24'],
    ],
    ["[ipv4-addr:value NOT ISSUBSET '198.51.100.0/24' OR ipv4-addr:value ISSUPERSET '198.51.100.0/24']", []],
    ["[ipv6-addr:value = '2001:DB8:0:0::1']", ['ipv6=2001:db8::1']],
    ["[domain-name:value IN ('A.example', 'b.example')]", ['domain=a.example', 'domain=b.example']],
    ["[url:value = 'hxxp://Evil[.]example:80/A#x']", ['url=http://evil.example/A']],
    ["[domain-name:value != 'a.example' OR domain-name:value NOT = 'b.example']", []],
    ["[file:name LIKE '%.exe' AND file:name MATCHES '^a' AND file:size > 3]", []],
    ["[file:hashes.'SHA-256' = 'AA']", ['observable:sha256=AA']],
    [`[file:hashes.MD5 = '${'A'.repeat(32)}' AND file:hashes.#x = '1']`, 'error'],
    [`[file:hashes."MD5" = "${'A'.repeat(32)}" AND file:name = "it's"]`, [`md5=${'a'.repeat(32)}`, "file_name=it's"]],
    [
      "domain-name:value = 'a.example' OR url:value = 'http://a.example/b'",
      ['domain=a.example', 'url=http://a.example/b'],
    ],
    [
      "[hostname:value = 'a.example' OR media-content:url = 'http://a.example/b']",
      ['domain=a.example', 'url=http://a.example/b'],
    ],
    ["[email-message:body_multipart[*].body_raw_ref.name = 'a.docm']", ['file_name=a.docm']],
    ["[network-traffic:extensions.'http-request-ext'.request_header.Host = 'a.example']", ['domain=a.example']],
    ["[cryptocurrency-wallet:value = '1abc']", ['observable:cryptocurrency-wallet=1abc']],
    [
      `[file:hashes.MD5 = '${'A'.repeat(32)}'] AND [file:name = 'it\\'s \\\\ here']`,
      [`md5=${'a'.repeat(32)}`, "file_name=it's \\ here"],
    ],
    [
      "[file:name = 'a.dll' AND file:parent_directory_ref.path = 'C:\\\\Intel' AND file:size = 3]",
      ['file_path=C:\\Intel\\a.dll'],
    ],
    ["[file:parent_directory_ref.path = '/tmp/' AND file:name = 'a.sh']", ['file_path=/tmp/a.sh']],
    ["[file:parent_directory_ref.path = 'C:' AND file:name = 'a.exe']", [String.raw`file_path=C:\a.exe`]],
    ["[file:parent_directory_ref.path = '%TEMP%' AND file:name = 'a.exe']", [String.raw`file_path=%TEMP%\a.exe`]],
    ["[win-registry-key:key = 'HKLM\\\\Zz']", [String.raw`registry_key=HKEY_LOCAL_MACHINE\Zz`]],
    ["[file:name = 'a.sh' OR file:parent_directory_ref.path = '/tmp']", ['file_name=a.sh', 'file_path=/tmp']],
    [
      "[file:name = 'a.sh' AND file:name = 'b.sh' AND file:parent_directory_ref.path = '/tmp']",
      ['file_name=a.sh', 'file_name=b.sh', 'file_path=/tmp'],
    ],
    [String.raw`[file:name = 'C:\Temp\evil.exe']`, [String.raw`file_path=C:\Temp\evil.exe`]],
    ["[windows-registry-key:key = 'HKLM\\\\Software\\\\X']", ['registry_key=HKEY_LOCAL_MACHINE\\Software\\X']],
    [
      "[network-traffic:dst_ref.type = 'domain-name' AND network-traffic:dst_ref.value = 'c2.example' AND network-traffic:dst_port = 443]",
      ['domain=c2.example'],
    ],
    ["[email-addr:value = 'a@b.example']", ['observable:email=a@b.example']],
    ["[mutex:name = 'm' OR autonomous-system:number = 174]", ['observable:mutex=m', 'observable:asn=174']],
    ["[process:command_line = 'cmd /c x'] REPEATS 5 TIMES WITHIN 60 SECONDS", ['command_line=cmd /c x']],
    [
      "[x509-certificate:hashes.'SHA-1' = '" + 'b'.repeat(40) + "' OR x509-certificate:serial_number = '0A:0b']",
      [`cert_sha1=${'b'.repeat(40)}`, 'cert_serial=0a0b'],
    ],
  ])('finds the values of %s', (pattern, expected) => {
    if (expected === 'error') expect(() => values(pattern)).toThrow();
    else expect(values(pattern)).toEqual(expected);
  });
});
