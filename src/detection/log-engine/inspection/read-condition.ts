import { simplifyPattern } from '../../matching/text-pattern.ts';
import { requiredLiterals } from '../../matching/regex-literal.ts';
import type { PatternPart, TextPattern, ValueTest } from '../../matching/expression.ts';
import { commandMarks, quoteInWord } from '../sql/added-functions.ts';
import { constantText, functionName, isNull, nodesOf, operandsOf, type TreeNode } from '../parse-tree.ts';
import { allFilters, anyFilter, everyEvent, type EventFilter } from './event-filter.ts';
import { readFieldValue, type Scope } from './field-paths.ts';

const any: PatternPart = { wildcard: '*' };
const depthMax = 200;

/**
 * Returns a filter that is true at least of the events for which a condition is true. If it does not understand a part, such as a negation, the
 * filter accepts every event.
 */
export function readCondition(node: TreeNode, scope: Scope, depth = 0): EventFilter {
  if (depth > depthMax) return everyEvent;
  const read = (one: TreeNode, inner = scope): EventFilter => readCondition(one, inner, depth + 1);
  const operands = operandsOf(node);
  switch (node['type']) {
    case 'CONJUNCTION_AND':
      return allFilters(operands.map((one) => read(one)));
    case 'CONJUNCTION_OR':
      return anyFilter(operands.map((one) => read(one)));
    case 'COMPARE_EQUAL':
      return readEquality(node['left'] as TreeNode, [node['right'] as TreeNode], scope);
    case 'COMPARE_IN':
      return readEquality(operands[0]!, operands.slice(1), scope);
    case 'OPERATOR_IS_NOT_NULL':
      return readPresence(operands[0]!, scope, read);
    case 'FUNCTION':
      return readCall(node, scope);
    default:
      return everyEvent;
  }
}

function readEquality(left: TreeNode, others: readonly TreeNode[], scope: Scope): EventFilter {
  if (left['class'] === 'CONSTANT' && others.length === 1) return readEquality(others[0]!, [left], scope);
  const texts = others.map((one) => constantText(one)).filter((text) => text !== undefined);
  // An empty text and a missing field are the same for some SIEMs.
  if (texts.length < others.length || texts.includes('')) return everyEvent;
  const isColumn = readFieldValue(left, scope)?.paths.some(({ isExact }) => !isExact);
  if (isColumn && !texts.every((text) => isTextOnly(text))) return everyEvent;
  const patterns = texts.map((text) => [{ text }]);
  // SIEMs differ in the case of booleans as text.
  return testText(left, scope, patterns, !texts.some((text) => /^(?:true|false)$/i.test(text)));
}

/**
 * Returns whether a constant can only be text. A column may have another type, whose values the engine compares with the constant by their
 * meaning.
 */
const isTextOnly = (text: string): boolean =>
  /^\p{L}/u.test(text) && !/^(?:t|f|y|n|true|false|yes|no|on|off|nan|inf|infinity|epoch)$/i.test(text);

function testText(node: TreeNode, scope: Scope, patterns: readonly TextPattern[], cased = true): EventFilter {
  const value = readFieldValue(node, scope);
  if (!value) return everyEvent;
  const tests = patterns.map((pattern): ValueTest => ({ kind: 'text', pattern, cased: cased && !value.isFolded }));
  const all = value.isPlainCommand ? [...tests, ...markTests] : tests;
  return anyFilter(all.map((test) => ({ kind: 'test', paths: value.paths, test })));
}

const markTests: readonly ValueTest[] = [
  ...[...commandMarks, '""'].map((text): ValueTest => ({ kind: 'text', pattern: [any, { text }, any], cased: false })),
  { kind: 'regex', source: quoteInWord, flags: [] },
];

/** A CASE without ELSE has a value only if one of its conditions is true. */
function readPresence(node: TreeNode, scope: Scope, read: (one: TreeNode, inner: Scope) => EventFilter): EventFilter {
  if (node['class'] === 'COLUMN_REF') {
    const [only, ...others] = scope(node['column_names'] as string[]) ?? [];
    if (!only || others.length > 0 || !('node' in only)) return everyEvent;
    return readPresence(only.node, only.scope, read);
  }
  if (node['class'] !== 'CASE' || !isNull(node['else_expr'] as TreeNode)) return everyEvent;
  return anyFilter(nodesOf(node['case_checks']).map((check) => read(check['when_expr'] as TreeNode, scope)));
}

function readCall(node: TreeNode, scope: Scope): EventFilter {
  const [left, right, options] = operandsOf(node);
  const text = constantText(right);
  if (!left || text === undefined || text === '') return everyEvent;
  switch (functionName(node)) {
    case 'regexp_matches':
      return readRegex(left, text, options && constantText(options), scope);
    case '~~':
    case 'like':
      return options ? everyEvent : testLike(left, text, scope, true);
    case '~~*':
    case 'ilike':
      return options ? everyEvent : testLike(left, text, scope, false);
    case 'contains':
      return testText(left, scope, [[any, { text }, any]]);
    case 'prefix':
    case 'starts_with':
    case '^@':
      return testText(left, scope, [[{ text }, any]]);
    case 'suffix':
    case 'ends_with':
      return testText(left, scope, [[any, { text }]]);
    default:
      return everyEvent;
  }
}

/** SIEMs differ in their regular expressions, so the filter has the texts without which the expression does not match. */
function readRegex(left: TreeNode, source: string, options = '', scope: Scope): EventFilter {
  const texts = requiredLiterals(source, [...options]);
  return texts
    ? testText(
        left,
        scope,
        texts.map((text) => [any, { text }, any]),
        false,
      )
    : everyEvent;
}

/** Tests a text with wildcards. One of nothing but wildcards is also true of an empty text. */
function testLike(node: TreeNode, text: string, scope: Scope, cased: boolean): EventFilter {
  return /[^%_]/.test(text) ? testText(node, scope, [parseLike(text)], cased) : everyEvent;
}

const parseLike = (pattern: string): TextPattern =>
  simplifyPattern(
    [...pattern.matchAll(/[%_]|[^%_]+/g)].map(([part]): PatternPart => {
      if (part === '%') return any;
      return part === '_' ? { wildcard: '?' } : { text: part };
    }),
  );
