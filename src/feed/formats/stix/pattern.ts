import { ExternalError } from '../../../platform/lib/external-error.ts';

export type Literal = { kind: 'string' | 'number' | 'boolean' | 'timestamp' | 'binary'; text: string };

/** `file:hashes.'SHA-256'` has the object `file` and the steps `hashes` and `SHA-256`. An index is a step `[0]` or `[*]`. */
export type ObjectPath = { object: string; steps: string[] };

export type Operator = '=' | '!=' | '<' | '>' | '<=' | '>=' | 'IN' | 'LIKE' | 'MATCHES' | 'ISSUBSET' | 'ISSUPERSET';

export type Comparison =
  | { kind: 'test'; path: ObjectPath; negated: boolean; operator: Operator; values: Literal[] }
  | { kind: 'exists'; path: ObjectPath }
  | { kind: 'and' | 'or'; operands: Comparison[] };

export type Qualifier =
  | { kind: 'within'; seconds: number }
  | { kind: 'repeats'; times: number }
  | { kind: 'start-stop'; start: string; stop: string };

export type Observation =
  | { kind: 'observation'; comparison: Comparison; qualifiers: Qualifier[] }
  | { kind: 'and' | 'or' | 'followed-by'; operands: Observation[]; qualifiers: Qualifier[] };

const nestingMax = 64;
const signs: Record<string, Operator> = {
  '=': '=',
  '==': '=',
  '!=': '!=',
  '<>': '!=',
  '<': '<',
  '>': '>',
  '<=': '<=',
  '>=': '>=',
};
const words = new Set(['IN', 'LIKE', 'MATCHES', 'ISSUBSET', 'ISSUPERSET']);

type Reader = { tokens: Token[]; next: number; depth: number };

/**
 * Parses a STIX pattern (2.0 or 2.1) into a tree. AND binds tighter than OR, OR tighter than FOLLOWEDBY.
 * Throws an Error with the reason and the position.
 */
export function parsePattern(pattern: string): Observation {
  const reader: Reader = { tokens: tokenize(pattern), next: 0, depth: 0 };
  const observation = readFollowedBy(reader);
  if (peek(reader).kind !== 'end') throw unexpected(reader);
  return observation;
}

const readFollowedBy = (r: Reader): Observation => readObservations(r, 'followed-by', 'FOLLOWEDBY', readObservationOr);
const readObservationOr = (r: Reader): Observation => readObservations(r, 'or', 'OR', readObservationAnd);
const readObservationAnd = (r: Reader): Observation => readObservations(r, 'and', 'AND', readObservation);

function readObservations(
  reader: Reader,
  kind: 'and' | 'or' | 'followed-by',
  word: string,
  readOperand: (reader: Reader) => Observation,
): Observation {
  const operands = [readOperand(reader)];
  while (takeWord(reader, word)) operands.push(readOperand(reader));
  return operands.length === 1 ? operands[0]! : { kind, operands, qualifiers: [] };
}

function readObservation(reader: Reader): Observation {
  const inner: Observation = nested(reader, () => {
    if (takeSign(reader, '(')) {
      const observation = readFollowedBy(reader);
      expectSign(reader, ')');
      return observation;
    }
    expectSign(reader, '[');
    const comparison = readComparisonOr(reader);
    expectSign(reader, ']');
    return { kind: 'observation', comparison, qualifiers: [] };
  });
  const qualifiers = readQualifiers(reader);
  return qualifiers.length === 0 ? inner : { ...inner, qualifiers: [...inner.qualifiers, ...qualifiers] };
}

function readQualifiers(reader: Reader): Qualifier[] {
  const qualifiers: Qualifier[] = [];
  for (;;) {
    if (takeWord(reader, 'WITHIN')) {
      qualifiers.push({ kind: 'within', seconds: readNumber(reader) });
      if (!takeWord(reader, 'SECONDS')) throw unexpected(reader);
    } else if (takeWord(reader, 'REPEATS')) {
      qualifiers.push({ kind: 'repeats', times: readNumber(reader) });
      if (!takeWord(reader, 'TIMES')) throw unexpected(reader);
    } else if (takeWord(reader, 'START')) {
      const start = readInstant(reader);
      if (!takeWord(reader, 'STOP')) throw unexpected(reader);
      qualifiers.push({ kind: 'start-stop', start, stop: readInstant(reader) });
    } else return qualifiers;
  }
}

const readComparisonOr = (r: Reader): Comparison => readComparisons(r, 'or', readComparisonAnd);
const readComparisonAnd = (r: Reader): Comparison => readComparisons(r, 'and', readTest);

function readComparisons(reader: Reader, kind: 'and' | 'or', readOperand: (reader: Reader) => Comparison): Comparison {
  const operands = [readOperand(reader)];
  while (takeWord(reader, kind.toUpperCase())) operands.push(readOperand(reader));
  return operands.length === 1 ? operands[0]! : { kind, operands };
}

function readTest(reader: Reader): Comparison {
  if (takeSign(reader, '(')) {
    return nested(reader, () => {
      const comparison = readComparisonOr(reader);
      expectSign(reader, ')');
      return comparison;
    });
  }
  if (takeWord(reader, 'EXISTS')) return { kind: 'exists', path: readPath(reader) };
  // NOT precedes the operator, but some producers write it before the path.
  const negatedFirst = takeWord(reader, 'NOT');
  const path = readPath(reader);
  const negated = takeWord(reader, 'NOT') !== negatedFirst;
  const operator = readOperator(reader);
  return { kind: 'test', path, negated, operator, values: operator === 'IN' ? readSet(reader) : [readLiteral(reader)] };
}

function readPath(reader: Reader): ObjectPath {
  const object = take(reader, 'word').text;
  expectSign(reader, ':');
  const steps = [readKey(reader)];
  for (;;) {
    if (takeSign(reader, '.')) steps.push(readKey(reader));
    else if (takeSign(reader, '[')) {
      steps.push(takeSign(reader, '*') ? '[*]' : `[${take(reader, 'number').text}]`);
      expectSign(reader, ']');
    } else return { object, steps };
  }
}

function readKey(reader: Reader): string {
  return (peek(reader).kind === 'string' ? take(reader, 'string') : take(reader, 'word')).text;
}

function readOperator(reader: Reader): Operator {
  const { kind, text } = peek(reader);
  const operator =
    kind === 'sign' ? signs[text] : kind === 'word' && words.has(text.toUpperCase()) ? text.toUpperCase() : undefined;
  if (!operator) throw unexpected(reader);
  reader.next += 1;
  return operator as Operator;
}

function readSet(reader: Reader): Literal[] {
  expectSign(reader, '(');
  const values: Literal[] = [];
  do values.push(readLiteral(reader));
  while (takeSign(reader, ','));
  expectSign(reader, ')');
  return values;
}

function readLiteral(reader: Reader): Literal {
  const { kind, text } = peek(reader);
  const isBoolean = kind === 'word' && /^(true|false)$/i.test(text);
  if (!isBoolean && (kind === 'word' || kind === 'sign' || kind === 'end')) throw unexpected(reader);
  reader.next += 1;
  return isBoolean ? { kind: 'boolean', text: text.toLowerCase() } : { kind: kind as Literal['kind'], text };
}

function readNumber(reader: Reader): number {
  return Number(take(reader, 'number').text);
}

function readInstant(reader: Reader): string {
  return (peek(reader).kind === 'timestamp' ? take(reader, 'timestamp') : take(reader, 'string')).text;
}

function nested<T>(reader: Reader, read: () => T): T {
  reader.depth += 1;
  if (reader.depth > nestingMax) throw new ExternalError(`the pattern is nested deeper than ${nestingMax}`);
  const result = read();
  reader.depth -= 1;
  return result;
}

const peek = (reader: Reader): Token => reader.tokens[reader.next]!;

function take(reader: Reader, kind: Token['kind']): Token {
  if (peek(reader).kind !== kind) throw unexpected(reader);
  return reader.tokens[reader.next++]!;
}

const takeWord = (reader: Reader, word: string): boolean =>
  takes(reader, 'word', (text) => text.toUpperCase() === word);
const takeSign = (reader: Reader, sign: string): boolean => takes(reader, 'sign', (text) => text === sign);

function takes(reader: Reader, kind: Token['kind'], fits: (text: string) => boolean): boolean {
  const token = peek(reader);
  if (token.kind !== kind || !fits(token.text)) return false;
  reader.next += 1;
  return true;
}

function expectSign(reader: Reader, sign: string): void {
  if (!takeSign(reader, sign)) throw unexpected(reader);
}

function unexpected(reader: Reader): Error {
  const { kind, text, at } = peek(reader);
  return new ExternalError(
    kind === 'end' ? 'the pattern ends too early' : `unexpected ${JSON.stringify(text.slice(0, 40))} at ${at}`,
  );
}

/** Tokens of the STIX pattern language (STIX 2.1, part 9). */
type Token = {
  kind: 'word' | 'string' | 'number' | 'timestamp' | 'binary' | 'sign' | 'end';
  /** A string without its quotes and escapes; anything else as written. */
  text: string;
  at: number;
};

const patternMaxChars = 200_000;
const tokensMax = 50_000;

// The first that matches. The standard has no double quotes, but some exporters write them. Words may contain hyphens (`domain-name`). Numbers may have a sign, a fraction, also without a digit before its dot,
// and an exponent.
const shapes: [Token['kind'] | 'blank', RegExp][] = [
  ['sign', /!=|<>|<=|>=|==|[=<>[\](),:*]/y],
  ['blank', /(?:\s+|\/\*[\s\S]*?\*\/|\/\/[^\r\n]*)+/y],
  ['timestamp', /t'(?:[^'\\]|\\.)*'/y],
  ['binary', /[bh]'(?:[^'\\]|\\.)*'/y],
  ['string', /'(?:[^'\\]|\\[\s\S])*'|"(?:[^"\\]|\\[\s\S])*"/y],
  ['number', /[+-]?(?:\d+\.\d*|\.\d+|\d+)(?:[eE][+-]?\d+)?(?![\w-])/y],
  ['word', /[A-Za-z_0-9][\w-]*/y],
  ['sign', /\./y],
];

/** Splits a pattern into tokens, the last of which is `end`. Throws an Error with the position of an invalid character. */
function tokenize(pattern: string): Token[] {
  if (pattern.length > patternMaxChars)
    throw new ExternalError(`the pattern is longer than ${patternMaxChars} characters`);
  const tokens: Token[] = [];
  for (let at = 0; at < pattern.length;) {
    const [kind, text] = matchToken(pattern, at);
    if (kind !== 'blank') tokens.push({ kind, text: unquote(kind, text), at });
    if (tokens.length > tokensMax) throw new ExternalError(`the pattern has more than ${tokensMax} parts`);
    at += text.length;
  }
  tokens.push({ kind: 'end', text: '', at: pattern.length });
  return tokens;
}

function matchToken(pattern: string, at: number): [Token['kind'] | 'blank', string] {
  for (const [kind, shape] of shapes) {
    shape.lastIndex = at;
    const match = shape.exec(pattern);
    if (match) return [kind, match[0]];
  }
  throw new ExternalError(`unexpected ${JSON.stringify(pattern[at])} at ${at}`);
}

function unquote(kind: Token['kind'], text: string): string {
  // Many exporters do not escape the backslashes of a path. The standard escapes only quotes and backslashes.
  const unescape = (quoted: string): string => quoted.slice(1, -1).replaceAll(/\\([\\'"])/g, '$1');
  if (kind === 'string') return unescape(text);
  return kind === 'timestamp' || kind === 'binary' ? unescape(text.slice(1)) : text;
}
