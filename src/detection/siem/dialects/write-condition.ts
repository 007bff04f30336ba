import type { Expression, TextPattern, ValueTest } from '../../matching/expression.ts';
import { toSimpleComparison } from '../../matching/text-pattern.ts';
import { UnsupportedError, type ConditionWriter } from './dialect.ts';
import { compileRegex } from '../../matching/compile-expression.ts';

const widthMax = 100;

/** Returns an expression as text, with line breaks where a line would be long. Negations are two-valued in every language. */
export function writeCondition(expression: Expression, writer: ConditionWriter, indent = '  '): string {
  return write(expression, writer, indent).text;
}

/** `isLoose`: the text has an operator outside of parentheses. */
type Written = { text: string; isLoose: boolean };

function write(expression: Expression, writer: ConditionWriter, indent: string): Written {
  const inner = `${indent}  `;
  if (expression.kind === 'match') return { text: writer.match(expression.field, expression.test), isLoose: false };
  if (expression.kind === 'not') return { text: writer.not(write(expression.of, writer, inner).text), isLoose: false };
  const { kind } = expression;
  if (expression.of.length === 0) return { text: kind === 'all' ? writer.always : writer.never, isLoose: false };
  const parts = groupAlternatives(expression, writer).map(({ text, one }): Written =>
    text === undefined ? write(one!, writer, inner) : { text, isLoose: false },
  );
  if (parts.length === 1) return parts[0]!;
  const texts = parts.map(({ text, isLoose }) => (isLoose ? wrap(text, indent) : text));
  const operator = kind === 'all' ? writer.and : writer.or;
  const line = texts.join(` ${operator} `);
  const isShort = line.length <= widthMax && !line.includes('\n');
  return { text: isShort ? line : texts.join(`\n${indent}${operator} `), isLoose: true };
}

function wrap(text: string, indent: string): string {
  return text.includes('\n') ? `(\n${indent}  ${text}\n${indent})` : `(${text})`;
}

type Part = { text?: string; one?: Expression };
type Group = { field: string; cased: boolean; texts: string[]; relation: string };

/** A list of fewer texts is easier to read as single comparisons. */
const containedMin = 20;
const networksMin = 3;

/** Puts alternatives that compare the same field with whole texts, many contained ones or many networks into one list. */
function groupAlternatives(
  { kind, of }: Extract<Expression, { kind: 'all' | 'any' }>,
  writer: ConditionWriter,
): Part[] {
  if (kind === 'all') return of.map((one) => ({ one }));
  const groups = new Map<string, Group>();
  const keys = of.map((one) => {
    const simple = readSimple(one);
    if (!simple) return undefined;
    const key = `${simple.relation}:${simple.cased}:${simple.field}`;
    const group = groups.get(key);
    if (group) group.texts.push(...simple.texts);
    else groups.set(key, simple);
    return key;
  });
  const written = new Map([...groups].map(([key, group]) => [key, writeGroup(group, writer)]));
  const used = new Set<string>();
  return of.flatMap((one, index): Part[] => {
    const key = keys[index];
    const text = key === undefined ? undefined : written.get(key);
    if (key === undefined || text === undefined) return [{ one }];
    if (used.has(key)) return [];
    used.add(key);
    return [{ text }];
  });
}

function readSimple(one: Expression): Group | undefined {
  if (one.kind !== 'match' || one.field === null) return undefined;
  if (one.test.kind === 'cidr')
    return { field: one.field, cased: false, texts: [one.test.network], relation: 'network' };
  if (one.test.kind !== 'text') return undefined;
  const simple = toSimpleComparison(one.test.pattern);
  if (simple?.relation !== 'equals' && simple?.relation !== 'contains') return undefined;
  return { field: one.field, cased: one.test.cased, texts: [simple.text], relation: simple.relation };
}

function writeGroup({ field, cased, texts, relation }: Group, writer: ConditionWriter): string | undefined {
  if (relation === 'network') return texts.length >= networksMin ? writer.inOneOf?.(field, texts) : undefined;
  if (relation === 'equals') return texts.length > 1 ? writer.oneOf?.(field, texts, cased) : undefined;
  return texts.length >= containedMin ? writer.containsOneOf?.(field, texts, cased) : undefined;
}

const special = /[\\^$.*+?()[\]{}|/\-"'`#&~<>@%,;=!:\s\u0000-\u001f]/gu;

/**
 * Returns the characters of a text for a regular expression. Everything but letters, digits and a few harmless characters is written as a code,
 * so that no character has a meaning in the expression or in the language around it.
 */
export function escapeForRegex(text: string, code: (unit: number) => string): string {
  return text.replaceAll(special, (character) => code(character.codePointAt(0)!));
}

/** Returns a pattern as a regular expression that must match the whole value. */
export function patternToRegex(pattern: TextPattern, escape: (text: string) => string): string {
  return pattern.map((part) => ('text' in part ? escape(part.text) : part.wildcard === '*' ? '.*' : '.')).join('');
}

type RegexTest = Extract<ValueTest, { kind: 'regex' }>;

/** Returns the source of a regular expression with its flags inside. */
export const withInlineFlags = ({ source, flags }: RegexTest): string =>
  flags.length > 0 ? `(?${flags.join('')})${source}` : source;

/** Returns the test if an engine with the syntax of RE2 accepts it. Throws an UnsupportedError otherwise. */
export function requireRe2(test: RegexTest): RegexTest {
  try {
    compileRegex(test.source, test.flags);
    return test;
  } catch (error) {
    throw new UnsupportedError(
      `the regular expression ${test.source} is not valid in RE2: ${(error as Error).message}`,
    );
  }
}
