import fc from 'fast-check';
import { stringify } from 'yaml';
import type { ValueTest } from '../../../../src/detection/matching/expression.ts';
import { event, fieldNames, fold, plainMatch, readFuzz } from './sigma-fuzz.ts';

type Event = Record<string, unknown>;
/** A part of a rule: what stands in the YAML, and what it means. */
type Part<T> = { yaml: T; matches: (event: Event) => boolean };
type Item = { key: string; value: unknown; matches: (event: Event) => boolean };

/** A Sigma rule as YAML, with a plain evaluator that shares nothing with the service's parser. */
export type YamlRule = Part<string>;

const affixes = ['', 'contains', 'startswith', 'endswith'] as const;
const field = fc.constantFrom(...fieldNames);
const secrets = ['cmd.exe', 'ab', 'http'];
const options = ['net -user', '/c -x', 'a-b', '-', 'x /all'];

/** A value with wildcards, escapes and backslashes that are none. */
const raw = fc
  .array(fc.constantFrom(...'aAbB1.-%\\Éſ \'"', '*', '?', String.raw`\*`, String.raw`\?`, '\\\\', 'cmd.exe'), {
    maxLength: 4,
  })
  .map((parts) => parts.join(''));

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const wide = (text: string): Buffer => Buffer.from(text, 'utf16le');

/** Events whose texts also contain what the rarer modifiers look for. */
export const yamlEvent = fc
  .tuple(
    event,
    fc.constantFrom('f', 'g', undefined),
    fc.oneof(
      fc.constantFrom(...secrets, ...secrets.map(base64), ...secrets.map((text) => wide(text).toString('base64'))),
      fc.tuple(fc.constantFrom(...secrets), fc.nat({ max: 2 })).map(([text, n]) => base64(`${'y'.repeat(n)}${text}yy`)),
      fc.constantFrom(
        'NET –user',
        'net /USER',
        '/c ―x',
        '-c /x',
        'a-b',
        'x —all',
        'true',
        '5',
        'say "cmd.exe"',
        'C:\\cmd.exe',
      ),
    ),
  )
  .map(([one, name, value]): Event => (name === undefined ? one : { ...one, [name]: value }));

const escape = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);

/** The regular expression of a value with wildcards (Sigma specification 2.1, "Escaping"). */
function toRegex(value: string): string {
  let regex = '';
  for (let at = 0; at < value.length; at += 1) {
    const isEscape = value[at] === '\\' && '*?\\'.includes(value[at + 1] ?? 'x');
    if (isEscape) at += 1;
    if (!isEscape && value[at] === '*') regex += '[^]*';
    else regex += !isEscape && value[at] === '?' ? '[^]' : escape(value[at]!);
  }
  return regex;
}

/** Returns whether a text has the form that the affix and the case ask for. `regex` is in lower case unless `cased`. */
function hasForm(text: string | undefined, regex: string, affix: string, cased: boolean): boolean {
  if (text === undefined) return false;
  const start = affix === '' || affix === 'startswith' ? '^' : '';
  const end = affix === '' || affix === 'endswith' ? '$' : '';
  return new RegExp(`${start}(?:${regex})${end}`, 'u').test(cased ? text : fold(text));
}

const flag = (name: string) => fc.constantFrom('', '', '', name);

/** Texts, numbers, truth values and null, with the modifiers of texts. */
const textItem: fc.Arbitrary<Item> = fc
  .tuple(field, fc.constantFrom(...affixes), flag('cased'), flag('all'), flag('neq'), fc.array(fc.oneof({ weight: 8, arbitrary: raw }, fc.constantFrom(5, true)), { minLength: 1, maxLength: 3 }), fc.boolean())
  .map(([name, affix, cased, all, neq, anyValues, hasNull]) => {
    // Part of a text cannot be empty.
    const values = anyValues.map((value) => (value === '' && affix !== '' ? 'a' : value));
    const withNull = affix === '' && cased === '' && hasNull ? [...values, null] : values;
    const test = (value: string | number | boolean | null, text: string | undefined): boolean => {
      if (value === null) return text === undefined;
      const source = typeof value === 'string' ? value : String(value);
      return hasForm(text, toRegex(cased ? source : fold(source)), affix, cased !== '');
    };
    return {
      key: [name, affix, cased, all, neq].filter(Boolean).join('|'),
      value: withNull.length === 1 ? withNull[0] : withNull,
      matches: (one: Event) => {
        const text = readFuzz(one)(name);
        const isMatch = all ? withNull.every((value) => test(value, text)) : withNull.some((value) => test(value, text));
        return neq ? !isMatch : isMatch;
      },
    };
  }); // prettier-ignore

/** Tests for which the plain evaluator of conditions already has a meaning. */
const testItem: fc.Arbitrary<Item> = fc
  .tuple(
    field,
    fc.oneof(
      fc.constantFrom(true, false).map((value) => ['exists', value, { kind: 'exists', expected: value }] as const),
      fc.constantFrom('10.0.0.0/8', 'fe80::/10').map((value) => ['cidr', value, { kind: 'cidr', network: value }] as const),
      fc.tuple(fc.constantFrom(['lt', '<'], ['lte', '<='], ['gt', '>'], ['gte', '>='] as const), fc.constantFrom(-15, 0, 5, 4.5))
        .map(([[name, operator], value]) => [name, value, { kind: 'compare', operator, value }] as const),
      fc.tuple(fc.constantFrom('^a', 'b$', 'a.b', String.raw`\\Win`, '[^a]b', 'a|B'), fc.subarray(['i', 'm', 's']))
        .map(([source, flags]) => [['re', ...flags].join('|'), source, { kind: 'regex', source, flags }] as const),
      fc.tuple(field, fc.constantFrom(...affixes))
        .map(([other, affix]) => [['fieldref', affix].filter(Boolean).join('|'), other, { kind: 'field', other, relation: affix === '' ? 'equals' : affix, cased: false }] as const),
      fc.constantFrom(['minute', 59], ['hour', 5], ['year', 2024], ['day', 1], ['week', 22], ['month', 6], ['hour', 7] as const)
        .map(([part, value]) => [part, value, { kind: 'time', part, value }] as const),
    ),
  )
  .map(([name, [modifier, value, test]]) => ({
    key: `${name}|${modifier}`,
    value,
    matches: (one: Event) => plainMatch({ kind: 'match', field: name, test: test as ValueTest }, readFuzz(one)),
  })); // prettier-ignore

const encodedItem: fc.Arbitrary<Item> = fc
  .tuple(fc.constantFrom('f', 'g'), fc.constantFrom('base64', 'base64offset|contains', 'wide|base64', 'utf16le|base64offset|contains', 'windash', 'windash|contains'), fc.constantFrom(...secrets), fc.constantFrom(...options))
  .map(([name, modifiers, secret, option]) => {
    const bytes = /wide|utf16/.test(modifiers) ? wide(secret) : Buffer.from(secret);
    const affix = modifiers.endsWith('contains') ? 'contains' : '';
    const regexes = modifiers.startsWith('windash')
      ? [fold(option).split(/(?<!\w)[-/](?=\w)/).map(escape).join('[-/–—―]')]
      : (modifiers.includes('offset') ? [0, 1, 2].map((offset) => certainPart(bytes, offset)) : [bytes.toString('base64')]).map((text) => fold(escape(text)));
    return {
      key: `${name}|${modifiers}`,
      value: modifiers.startsWith('windash') ? option : secret,
      matches: (one: Event) => regexes.some((regex) => hasForm(readFuzz(one)(name), regex, affix, false)),
    };
  }); // prettier-ignore

/** The characters of Base64 all of whose bits come from `bytes` when these stand `offset` bytes after the beginning of a group. */
function certainPart(bytes: Buffer, offset: number): string {
  const encoded = Buffer.concat([Buffer.alloc(offset), bytes, Buffer.alloc(3)]).toString('base64');
  const [from, to] = [8 * offset, 8 * (offset + bytes.length)];
  return [...encoded].filter((_, index) => 6 * index >= from && 6 * index + 6 <= to).join('');
}

const item = fc.oneof(
  { weight: 5, arbitrary: textItem },
  { weight: 3, arbitrary: testItem },
  { weight: 2, arbitrary: encodedItem },
);

const map: fc.Arbitrary<Part<Record<string, unknown>>> = fc.uniqueArray(item, { minLength: 1, maxLength: 3, selector: ({ key }) => key }).map((items) => ({
  yaml: Object.fromEntries(items.map(({ key, value }) => [key, value])),
  matches: (one) => items.every(({ matches }) => matches(one)),
})); // prettier-ignore

/** Keywords are contained in the JSON text of the event, whose escapes are decoded. */
const keywords: fc.Arbitrary<Part<unknown>> = fc.tuple(fc.array(raw.filter((text) => text !== ''), { minLength: 1, maxLength: 3 }), fc.boolean()).map(([list, isAll]) => {
  const test = (one: Event) => (value: string) => hasForm(decodedText(one), toRegex(fold(value)), 'contains', false);
  return {
    yaml: isAll ? { '|all': list } : list,
    matches: (one) => (isAll ? list.every(test(one)) : list.some(test(one))),
  };
}); // prettier-ignore

/** Returns the JSON text of a value without escapes in its strings. */
export function decodedText(value: unknown): string {
  if (typeof value === 'string') return `"${value}"`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(decodedText).join(',')}]`;
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined);
  return `{${entries.map(([key, inner]) => `"${key}":${decodedText(inner)}`).join(',')}}`;
}

const selection: fc.Arbitrary<Part<unknown>> = fc.oneof(
  { weight: 4, arbitrary: map },
  fc.array(map, { minLength: 1, maxLength: 3 }).map((maps) => ({
    yaml: maps.map(({ yaml }) => yaml),
    matches: (one: Event) => maps.some(({ matches }) => matches(one)),
  })),
  keywords,
);

const names = ['a1', 'a2', 'b1'] as const;
type Condition = { text: string; holds: (isMatch: Record<string, boolean>) => boolean };
const quantified: fc.Arbitrary<Condition> = fc.tuple(fc.constantFrom('1', 'all'), fc.constantFrom('a*', 'b*', '*1', 'them')).map(([quantity, pattern]) => ({
  text: `${quantity} of ${pattern}`,
  holds: (isMatch) => {
    const meant = names.filter((name) => pattern === 'them' || new RegExp(`^${pattern.replace('*', '.*')}$`).test(name));
    return quantity === '1' ? meant.some((name) => isMatch[name]) : meant.every((name) => isMatch[name]);
  },
})); // prettier-ignore
const condition: fc.Arbitrary<Condition> = fc.letrec<{ one: Condition }>((tie) => ({
  one: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom(...names).map((name) => ({ text: name, holds: (isMatch: Record<string, boolean>) => isMatch[name]! })),
    quantified,
    tie('one').map(({ text, holds }): Condition => ({ text: `not (${text})`, holds: (isMatch) => !holds(isMatch) })),
    fc.tuple(tie('one'), fc.constantFrom('and', 'or'), tie('one')).map(([a, word, b]): Condition => ({
      text: `(${a.text} ${word} ${b.text})`,
      holds: (isMatch) => (word === 'and' ? a.holds(isMatch) && b.holds(isMatch) : a.holds(isMatch) || b.holds(isMatch)),
    })),
  ),
})).one; // prettier-ignore

/** Rules in the styles in which YAML writes texts. */
export const yamlRule: fc.Arbitrary<YamlRule> = fc
  .tuple(fc.tuple(selection, selection, selection), condition, fc.constantFrom('PLAIN' as const, 'QUOTE_DOUBLE' as const, 'QUOTE_SINGLE' as const))
  .map(([selections, { text, holds }, defaultStringType]) => {
    const detection = Object.fromEntries(names.map((name, index) => [name, selections[index]!.yaml]));
    const rule = { title: 'T', logsource: { category: 'test' }, detection: { ...detection, condition: text } };
    return {
      yaml: stringify(rule, { defaultStringType, defaultKeyType: 'QUOTE_DOUBLE', aliasDuplicateObjects: false }),
      matches: (one: Event) => holds(Object.fromEntries(names.map((name, index) => [name, selections[index]!.matches(one)]))),
    };
  }); // prettier-ignore
