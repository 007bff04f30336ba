import { isIP } from 'node:net';
import {
  timeParts,
  type RegexFlag,
  type TextPattern,
  type TimePart,
  type ValueTest,
  type PatternPart,
} from '../../matching/expression.ts';
import { anyText, parsePattern, plainText, simplifyPattern } from '../../matching/text-pattern.ts';

/** A scalar of a detection item. Integers are exact. */
export type Scalar = string | number | bigint | boolean | null;

/** The modifiers of a field, in order, without `all`, `neq` and `cased`, which concern the whole item. */
export type ModifierChain = { names: readonly string[]; cased: boolean };

const wideEncodings: Record<string, WideEncoding> = {
  wide: 'utf16le',
  utf16le: 'utf16le',
  utf16be: 'utf16be',
  utf16: 'utf16',
};
const comparisons = { lt: '<', lte: '<=', gt: '>', gte: '>=' } as const;
const regexFlags: Record<string, RegexFlag> = { i: 'i', ignorecase: 'i', m: 'm', multiline: 'm', s: 's', dotall: 's' };
const affixes = ['contains', 'startswith', 'endswith'] as const;

const valueModifiers = [
  ...affixes, 'base64', 'base64offset', 'wide', 'utf16', 'utf16le', 'utf16be', 'windash', 'expand', 're', 'cidr', 'exists', 'fieldref',
  'lt', 'lte', 'gt', 'gte', ...timeParts, ...Object.keys(regexFlags),
]; // prettier-ignore
export const allModifiers: readonly string[] = [...valueModifiers, 'all', 'neq', 'cased'];

/** Returns the tests of which a value must pass one. Throws an Error that explains what is wrong. */
export function toValueTests(value: Scalar, { names, cased }: ModifierChain, placeholders: Placeholders): ValueTest[] {
  const [first, ...rest] = names;
  if (first !== undefined && standsAlone(first)) rejectOthers(first, rest);
  if (first === 'exists') return [{ kind: 'exists', expected: requireBoolean(value) }];
  if (first !== undefined && isPart(first)) return [{ kind: 'time', part: first, value: requireNumber(value, first) }];
  if (first !== undefined && first in comparisons)
    return [
      { kind: 'compare', operator: comparisons[first as keyof typeof comparisons], value: requireNumber(value, first) },
    ];
  if (names.includes('fieldref')) return [fieldTest(value, names, cased)];
  if (value === null) {
    if (names.length > 0) throw new Error(`null cannot be combined with the modifier ${first}`);
    return [{ kind: 'exists', expected: false }];
  }
  const values = names.includes('expand') ? expandPlaceholders(String(value), placeholders) : [String(value)];
  if (first === 're')
    return values.map((source) =>
      regexTest(
        source,
        rest.filter((name) => name !== 'expand'),
      ),
    );
  if (first === 'cidr') return values.map((network) => cidrTest(network));
  const patterns = values.map((text) => (typeof value === 'string' ? parsePattern(text) : [{ text }]));
  return names
    .reduce((all, name) => all.flatMap((pattern) => modifyPattern(pattern, name)), patterns)
    .map((pattern) => ({ kind: 'text', pattern, cased }));
}

/** Modifiers that test a value in a way of their own. `expand` only changes which values there are. */
const standsAlone = (name: string): boolean => ['exists', 'cidr'].includes(name) || isPart(name) || name in comparisons;

function rejectOthers(first: string, rest: readonly string[]): void {
  const other = rest.find((name) => name !== 'expand' || first !== 'cidr');
  if (other !== undefined) throw new Error(`the modifier ${other} cannot follow ${first}`);
}

const isPart = (name: string): name is TimePart => (timeParts as readonly string[]).includes(name);

function modifyPattern(pattern: TextPattern, name: string): TextPattern[] {
  const affixed = affix(pattern, name);
  if (affixed) return [affixed];
  if (name === 'expand') return [pattern];
  if (name === 'windash') return expandDashes(pattern);
  if (name === 'base64') return [[{ text: encodeBase64(requirePlain(pattern, name)) }]];
  if (name === 'base64offset') return encodeBase64Offsets(requirePlain(pattern, name)).map((text) => [{ text }]);
  const encoding = wideEncodings[name];
  if (encoding) return [pattern.map((part) => ('text' in part ? { text: toWideText(part.text, encoding) } : part))];
  throw new Error(`the modifier ${name} cannot be used here`);
}

function affix(pattern: TextPattern, name: string): TextPattern | undefined {
  if (pattern.length === 0 && (affixes as readonly string[]).includes(name))
    throw new Error(`${name} requires a text. Every value of the field would match an empty one`);
  if (name === 'contains') return simplifyPattern([anyText, ...pattern, anyText]);
  if (name === 'startswith') return simplifyPattern([...pattern, anyText]);
  if (name === 'endswith') return simplifyPattern([anyText, ...pattern]);
  return undefined;
}

function requirePlain(pattern: TextPattern, name: string): string {
  const text = plainText(pattern);
  if (text === undefined) throw new Error(`${name} does not allow wildcards`);
  return text;
}

function requireBoolean(value: Scalar): boolean {
  if (typeof value !== 'boolean') throw new Error('exists requires true or false');
  return value;
}

function requireNumber(value: Scalar, name: string): number {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof number === 'bigint') return Number(number);
  if (typeof number !== 'number' || !Number.isFinite(number)) throw new Error(`${name} requires a number`);
  return number;
}

function regexTest(source: string, modifiers: readonly string[]): ValueTest {
  if (source === '') throw new Error('re requires an expression. Every value of the field would match an empty one');
  const flags = modifiers.map((name) => {
    const flag = regexFlags[name];
    if (!flag) throw new Error(`the modifier ${name} cannot follow re. Flags of re are i, m and s`);
    return flag;
  });
  return { kind: 'regex', source, flags: [...new Set(flags)].toSorted() };
}

function cidrTest(network: string): ValueTest {
  const [address = '', bits = ''] = network.split('/');
  const family = isIP(address);
  const isValid = family > 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128);
  if (!isValid) throw new Error(`"${network}" is not a network such as 10.0.0.0/8 or fe80::/10`);
  return { kind: 'cidr', network };
}

function fieldTest(value: Scalar, names: readonly string[], cased: boolean): ValueTest {
  if (typeof value !== 'string' || value === '') throw new Error('fieldref requires the name of a field');
  const others = names.filter((name) => name !== 'fieldref');
  const relation = affixes.find((name) => name === others[0]);
  if (others.length > 1 || (others.length === 1 && !relation))
    throw new Error('fieldref can be combined with one of startswith, endswith and contains');
  return { kind: 'field', other: value, relation: relation ?? 'equals', cased };
}

type WideEncoding = 'utf16le' | 'utf16be' | 'utf16';

const wideMark = '\u0000';

/** Returns the UTF-16 bytes of ASCII text as characters, so that a later `base64` encodes these bytes. `utf16` begins with a byte order mark. */
function toWideText(text: string, encoding: WideEncoding): string {
  if (!/^[\x01-\x7f]*$/.test(text)) throw new Error('wide and utf16 modifiers require ASCII text');
  if (encoding === 'utf16be') return [...text].map((character) => wideMark + character).join('');
  const little = [...text].map((character) => character + wideMark).join('');
  return encoding === 'utf16' ? `\u00ff\u00fe${little}` : little;
}

const hasByteOrderMark = (text: string): boolean => text.startsWith('\u00ff\u00fe');

/** Text that a wide modifier produced stands for bytes, other text for its UTF-8 form. */
const toBytes = (text: string): Buffer => Buffer.from(text, hasByteOrderMark(text) ? 'latin1' : 'utf8');

const encodeBase64 = (text: string): string => toBytes(text).toString('base64');

/** Returns the parts of a text's Base64 form that do not depend on the bytes around it, for each of the three positions that it can have. */
function encodeBase64Offsets(text: string): string[] {
  const bytes = toBytes(text);
  return [0, 1, 2].map((offset) => {
    const encoded = Buffer.concat([Buffer.alloc(offset, ' '), bytes]).toString('base64');
    const start = [0, 2, 3][offset]!;
    const cut = [0, 3, 2][(bytes.length + offset) % 3]!;
    return encoded.slice(start, encoded.length - cut);
  });
}

const dashes = ['-', '/', '\u2013', '\u2014', '\u2015'];
const dashesMax = 4;
const dashBeforeWord = /\B[-/]\b/g;

/** Returns the pattern with each dash or slash that begins an option replaced by every character that Windows programs accept there. */
function expandDashes(pattern: TextPattern): TextPattern[] {
  const choices: PatternPart[][] = pattern.flatMap((part) => ('text' in part ? splitAtDashes(part.text) : [[part]]));
  if (choices.filter((choice) => choice.length > 1).length > dashesMax)
    throw new Error(`windash accepts at most ${dashesMax} options in a value. Split the value with contains|all`);
  const variants = choices.reduce<PatternPart[][]>(
    (all, choice) => all.flatMap((before) => choice.map((part) => [...before, part])),
    [[]],
  );
  return variants.map((parts) => simplifyPattern(parts));
}

function splitAtDashes(text: string): PatternPart[][] {
  const result: PatternPart[][] = [];
  let from = 0;
  for (const { index } of text.matchAll(dashBeforeWord)) {
    result.push(
      [{ text: text.slice(from, index) }],
      dashes.map((dash) => ({ text: dash })),
    );
    from = index + 1;
  }
  return [...result, [{ text: text.slice(from) }]];
}

/** Values for `%name%` in fields with the modifier `expand`, by name. */
export type Placeholders = Readonly<Record<string, readonly string[]>>;

const placeholderPattern = /%([A-Za-z0-9_.-]+)%/g;

/** Returns the texts that result from replacing each `%name%` by each of its values. Throws an Error for a name without values. */
function expandPlaceholders(text: string, placeholders: Placeholders): string[] {
  let texts = [text];
  for (const name of new Set([...text.matchAll(placeholderPattern)].map((match) => match[1]!))) {
    const values = Object.hasOwn(placeholders, name) ? placeholders[name]! : undefined;
    if (!values)
      throw new Error(`the placeholder %${name}% has no values. Define it under \`placeholders\` in a mapping`);
    texts = texts.flatMap((one) => values.map((value) => one.replaceAll(`%${name}%`, value)));
  }
  return texts;
}
