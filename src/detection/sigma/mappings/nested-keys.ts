import {
  allOf,
  noneOf,
  type Expression,
  type Match,
  type PatternPart,
  type TextPattern,
  type ValueTest,
} from '../../matching/expression.ts';

const any: PatternPart = { wildcard: '*' };

/**
 * Returns an expression whose tests of some fields are tests of the JSON that contains them: of `capabilities`, a key somewhere in the
 * specification of a pod, the value is what comes after the key. `isNested` tells which fields are such keys.
 */
export function testNestedKeys(expression: Expression, isNested: (field: string) => boolean): Expression {
  if (expression.kind === 'not') return noneOf(testNestedKeys(expression.of, isNested));
  if (expression.kind !== 'match')
    return { ...expression, of: expression.of.map((one) => testNestedKeys(one, isNested)) };
  return expression.field !== null && isNested(expression.field) ? testKey(expression, expression.field) : expression;
}

function testKey({ test }: Match, field: string): Expression {
  const match = (one: ValueTest): Match => ({ kind: 'match', field, test: one });
  const key: TextPattern = [any, { text: `"${field}"` }, any];
  const present = match({ kind: 'text', pattern: key, cased: false });
  if (test.kind === 'exists') return test.expected ? present : noneOf(present);
  if (test.kind !== 'text') return allOf([present, match(test)]);
  const [first, last] = [test.pattern[0], test.pattern.at(-1)];
  if (test.pattern.length === 1 && first && isAny(first)) return present;
  const pattern = [
    ...key.slice(0, -1),
    ...(first && isAny(first) ? [] : [any, { text: '"' }]),
    ...test.pattern,
    ...(last && isAny(last) ? [] : [{ text: '"' }, any]),
  ];
  return match({ ...test, pattern });
}

const isAny = (part: PatternPart): boolean => 'wildcard' in part && part.wildcard === '*';
