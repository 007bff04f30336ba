import { compilePattern, parsePattern } from '../../matching/text-pattern.ts';
import { allOf, anyOf, noneOf, type Expression } from '../../matching/expression.ts';

/** Search identifiers of a rule with the expression of each. */
export type Searches = ReadonlyMap<string, Expression>;

const tokenPattern = /\s*(?:([()|])|([\w*?-]+))/y;
const depthMax = 50;

/**
 * Parses a condition: search identifiers, `1 of`, `any of`, `all of` and a number with `of`, each with a pattern or `them`, combined with
 * `not`, `and`, `or` and parentheses. Adds the identifiers that it uses to `used`. Throws an Error that explains what is wrong.
 */
export function parseCondition(text: string, searches: Searches, used = new Set<string>()): Expression {
  const tokens = tokenize(text);
  let at = 0;
  const peek = (): string | undefined => tokens[at]?.toLowerCase();
  const next = (): string => {
    const token = tokens[at++];
    if (token === undefined) throw new Error('the condition ends unexpectedly');
    return token;
  };
  const parseList = (operator: 'and' | 'or', parse: (depth: number) => Expression, depth: number): Expression => {
    const parts = [parse(depth)];
    while (peek() === operator) {
      at++;
      parts.push(parse(depth));
    }
    return operator === 'and' ? allOf(parts) : anyOf(parts);
  };
  const parseOr = (depth: number): Expression => parseList('or', parseAnd, depth);
  const parseAnd = (depth: number): Expression => parseList('and', parseNot, depth);
  const parseNot = (depth: number): Expression => {
    if (depth > depthMax) throw new Error(`the condition is nested more than ${depthMax} levels deep`);
    if (peek() !== 'not') return parseOperand(depth);
    at++;
    return noneOf(parseNot(depth + 1));
  };
  const parseOperand = (depth: number): Expression => {
    const token = next();
    if (token === '(') {
      const inner = parseOr(depth + 1);
      if (next() !== ')') throw new Error('a parenthesis is not closed');
      return inner;
    }
    if (peek() === 'of') {
      at++;
      const names = selectNames(next(), searches);
      for (const name of names) used.add(name);
      return quantify(
        token,
        names.map((name) => searches.get(name)!),
      );
    }
    const search = searches.get(token);
    if (!search) throw new Error(describeUnknown(token, searches));
    used.add(token);
    return search;
  };
  const result = parseOr(0);
  if (at < tokens.length) throw new Error(`unexpected "${tokens[at]}"`);
  return result;
}

function tokenize(text: string): string[] {
  const tokens: string[] = [];
  const end = text.trimEnd().length;
  for (let at = 0; at < end; at = tokenPattern.lastIndex) {
    tokenPattern.lastIndex = at;
    const match = tokenPattern.exec(text);
    if (!match) throw new Error(`unexpected character "${text.slice(at).trim()[0]}"`);
    if (match[1] === '|') throw new Error('aggregations after | are not part of Sigma 2. Use a correlation rule');
    tokens.push(match[1] ?? match[2]!);
  }
  if (tokens.length === 0) throw new Error('the condition is empty');
  return tokens;
}

/** Names that begin with an underscore are selected only by patterns that begin with one. */
function selectNames(pattern: string, searches: Searches): string[] {
  const matches = compilePattern(parsePattern(pattern === 'them' ? '*' : pattern));
  const names = [...searches.keys()].filter(
    (name) => matches(name) && (pattern.startsWith('_') || !name.startsWith('_')),
  );
  if (names.length === 0) throw new Error(`no search identifier matches "${pattern}"`);
  return names;
}

function quantify(quantifier: string, expressions: Expression[]): Expression {
  const word = quantifier.toLowerCase();
  if (word === 'all') return allOf(expressions);
  if (word === 'any') return anyOf(expressions);
  if (!/^\d+$/.test(word)) throw new Error(`"${quantifier} of" is not valid. Use 1 of, any of or all of`);
  return atLeast(Number(word), expressions);
}

const combinationsMax = 1000;

/** Returns an expression that is true if at least `count` of the expressions are. */
function atLeast(count: number, expressions: Expression[]): Expression {
  if (count === 0 || count > expressions.length)
    throw new Error(`"${count} of" cannot be true: ${expressions.length} search identifiers match`);
  let combinations: Expression[][] = [[]];
  for (const [index, expression] of expressions.entries()) {
    const left = expressions.length - index - 1;
    combinations = combinations.flatMap((before) => {
      const longer = before.length < count ? [[...before, expression]] : [];
      return before.length + left >= count ? [...longer, before] : longer;
    });
    if (combinations.length > combinationsMax) throw new Error(`"${count} of" has too many combinations`);
  }
  return anyOf(combinations.map((chosen) => allOf(chosen)));
}

function describeUnknown(token: string, searches: Searches): string {
  const known = [...searches.keys()].join(', ');
  return `"${token}" is not a search identifier of this rule. Identifiers: ${known || 'none'}`;
}
