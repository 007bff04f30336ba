import { ExternalError } from '../../../platform/lib/external-error.ts';

/** Tokens of the STIX pattern language (STIX 2.1, part 9). */
export type Token = {
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
export function tokenize(pattern: string): Token[] {
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
