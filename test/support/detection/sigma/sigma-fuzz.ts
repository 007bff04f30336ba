import fc from 'fast-check';
import type { Expression, TextPattern, ValueTest } from '../../../../src/detection/matching/expression.ts';
import { simplifyPattern } from '../../../../src/detection/matching/text-pattern.ts';

/** Characters that have a meaning in one of the languages, in different cases, and with unusual case folding. */
const characters = [...'aAbB1.-%_!\\*?\'"`|[](){}$^&;,=<>#~@/ éÉßſKΣσςİ\n😀'];
const text = fc.array(fc.constantFrom(...characters), { maxLength: 5 }).map((list) => list.join(''));
const words = fc.constantFrom(
  'ab',
  'AB',
  'cmd.exe',
  String.raw`C:\Windows\cmd.exe`,
  '10.1.2.3',
  'fe80::1',
  '5',
  '-1.5e1',
  '2024-06-01T05:59:00Z',
  '',
);
export const fieldNames = ['f', 'g', 'Deep.Inner', 'with space', "quo'te"];

const pattern: fc.Arbitrary<TextPattern> = fc
  .array(
    fc.oneof(
      text.map((one) => ({ text: one })),
      words.map((one) => ({ text: one })),
      fc.constantFrom({ wildcard: '*' as const }, { wildcard: '?' as const }),
    ),
    { maxLength: 4 },
  )
  .map((parts) => simplifyPattern(parts));

const valueTest: fc.Arbitrary<ValueTest> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('text' as const), pattern, cased: fc.boolean() }) },
  fc.record({ kind: fc.constant('exists' as const), expected: fc.boolean() }),
  fc.record({ kind: fc.constant('cidr' as const), network: fc.constantFrom('10.0.0.0/8', '10.1.2.3/32', 'fe80::/10', '0.0.0.0/0') }),
  fc.record({ kind: fc.constant('compare' as const), operator: fc.constantFrom('<' as const, '<=' as const, '>' as const, '>=' as const), value: fc.constantFrom(-15, 0, 5, 4.5) }),
  fc.record({ kind: fc.constant('regex' as const), source: fc.constantFrom('^a', 'b$', 'a.b', String.raw`\\Win`, '[^a]b', "'", 'a|B'), flags: fc.constantFrom([], ['i' as const]) }),
  fc.record({ kind: fc.constant('field' as const), other: fc.constantFrom(...fieldNames), relation: fc.constantFrom('equals' as const, 'startswith' as const, 'endswith' as const, 'contains' as const), cased: fc.boolean() }),
  fc.record({ kind: fc.constant('time' as const), part: fc.constantFrom('minute' as const, 'hour' as const, 'year' as const), value: fc.constantFrom(5, 59, 2024) }),
); // prettier-ignore

/** Conditions over `fieldNames`. */
export const expression: fc.Arbitrary<Expression> = fc.letrec<{ one: Expression }>((tie) => ({
  one: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('match' as const), field: fc.constantFrom(...fieldNames), test: valueTest }) },
    fc.record({ kind: fc.constant('not' as const), of: tie('one') }),
    fc.record({ kind: fc.constantFrom('all' as const, 'any' as const), of: fc.array(tie('one'), { minLength: 1, maxLength: 3 }) }),
  ),
})).one; // prettier-ignore

const value = fc.oneof({ weight: 3, arbitrary: text }, words, fc.constant(undefined));
export const event = fc.record({ f: value, g: value, inner: value, space: value, quote: value }).map(({ f, g, inner, space, quote }) => ({
  f, g, Deep: { Inner: inner }, 'with space': space, "quo'te": quote,
})); // prettier-ignore

/** Lower case by character, as the engines do it. */
export const fold = (one: string): string =>
  [...one].map((letter) => (letter === 'İ' ? 'i' : letter.toLowerCase())).join('');
const quote = (one: string): string => one.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);

/** A second evaluator that shares nothing with the service's own. */
export function plainMatch(condition: Expression, read: (field: string) => string | undefined): boolean {
  if (condition.kind === 'not') return !plainMatch(condition.of, read);
  if (condition.kind === 'all') return condition.of.every((one) => plainMatch(one, read));
  if (condition.kind === 'any') return condition.of.some((one) => plainMatch(one, read));
  const found = read(condition.field!);
  const { test } = condition;
  if (test.kind === 'exists') return (found !== undefined) === test.expected;
  if (found === undefined) return false;
  if (test.kind === 'regex') return new RegExp(test.source, test.flags.join('')).test(found);
  if (test.kind === 'compare') {
    if (!/^\s*-?\.?\d/.test(found) || Number.isNaN(Number(found))) return false;
    const difference = Number(found) - test.value;
    return { '<': difference < 0, '<=': difference <= 0, '>': difference > 0, '>=': difference >= 0 }[test.operator];
  }
  if (test.kind === 'time') {
    if (!found.startsWith('2024-')) return false;
    return { minute: 59, hour: 5, year: 2024, day: 1, week: 22, month: 6 }[test.part] === test.value;
  }
  if (test.kind === 'cidr') {
    if (test.network.startsWith('fe80')) return found === 'fe80::1';
    return found === '10.1.2.3';
  }
  const [a, change] = test.cased ? [found, (one: string) => one] : [fold(found), fold];
  if (test.kind === 'field') {
    const other = read(test.other);
    if (other === undefined) return false;
    const b = change(other);
    return { equals: a === b, startswith: a.startsWith(b), endswith: a.endsWith(b), contains: a.includes(b) }[
      test.relation
    ];
  }
  const source = test.pattern
    .map((part) => ('text' in part ? quote(change(part.text)) : part.wildcard === '*' ? '[^]*' : '[^]'))
    .join('');
  return new RegExp(`^(?:${source})$`, 'u').test(a);
}

/** Returns a function that reads a field as text. Values of other types are read as their JSON, and null like a missing one. */
export const readFuzz =
  (one: object) =>
  (field: string): string | undefined => {
    const value = field.split('.').reduce<unknown>((inner, name) => (inner as Record<string, unknown>)[name], one);
    if (value === undefined || value === null) return undefined;
    return typeof value === 'string' ? value : JSON.stringify(value);
  };
