/** A part of a text pattern: literal text, or a wildcard for any text (`*`) or one character (`?`). */
export type PatternPart = { text: string } | { wildcard: '*' | '?' };

/** A pattern that a whole value must match. No parts match the empty value. */
export type TextPattern = readonly PatternPart[];

export type CompareOperator = '<' | '<=' | '>' | '>=';

export const timeParts = ['minute', 'hour', 'day', 'week', 'month', 'year'] as const;
export type TimePart = (typeof timeParts)[number];

export type FieldRelation = 'equals' | 'startswith' | 'endswith' | 'contains';

export type RegexFlag = 'i' | 'm' | 's';

/**
 * A test of one field's value as text. Every test but `null` and a negative `exists` is false for a field that an event does not have. Text
 * matches without regard to case unless `cased`.
 */
export type ValueTest =
  | { kind: 'text'; pattern: TextPattern; cased: boolean }
  | { kind: 'regex'; source: string; flags: readonly RegexFlag[] }
  | { kind: 'cidr'; network: string }
  | { kind: 'compare'; operator: CompareOperator; value: number }
  | { kind: 'field'; other: string; relation: FieldRelation; cased: boolean }
  | { kind: 'time'; part: TimePart; value: number }
  | { kind: 'exists'; expected: boolean };

/** `field: null` tests the text of the whole event. */
export type Match = { kind: 'match'; field: string | null; test: ValueTest };

/** A condition over one event. `all` of nothing is true, `any` of nothing is false. */
export type Expression =
  | { kind: 'all'; of: readonly Expression[] }
  | { kind: 'any'; of: readonly Expression[] }
  | { kind: 'not'; of: Expression }
  | Match;

/** Returns the conjunction of expressions, without a level for a single one. */
export function allOf(expressions: readonly Expression[]): Expression {
  const flat = expressions.flatMap((one) => (one.kind === 'all' ? one.of : [one]));
  return flat.length === 1 ? flat[0]! : { kind: 'all', of: flat };
}

/** Returns the disjunction of expressions, without a level for a single one. */
export function anyOf(expressions: readonly Expression[]): Expression {
  const flat = expressions.flatMap((one) => (one.kind === 'any' ? one.of : [one]));
  return flat.length === 1 ? flat[0]! : { kind: 'any', of: flat };
}

export const noneOf = (expression: Expression): Expression => ({ kind: 'not', of: expression });

/** Calls `visit` for every match of an expression. */
export function visitMatches(expression: Expression, visit: (match: Match) => void): void {
  if (expression.kind === 'match') visit(expression);
  else if (expression.kind === 'not') visitMatches(expression.of, visit);
  else for (const one of expression.of) visitMatches(one, visit);
}

/** Returns the fields that an expression reads, in order of their first use. `null` stands for the whole event. */
export function listFields(expression: Expression): (string | null)[] {
  const fields = new Set<string | null>();
  visitMatches(expression, ({ field, test }) => {
    fields.add(field);
    if (test.kind === 'field') fields.add(test.other);
  });
  return [...fields];
}
