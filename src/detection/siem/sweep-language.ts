/** How a SIEM searches fields for the values of indicators. Values need no escaping: they have neither quotes nor wildcards. */
export type SweepLanguage = {
  /** Returns the expression of a field as text. `field` is a path of letters, digits, `_`, and dots. */
  text: (field: string) => string;
  /** Returns the condition that the text is one of the values. */
  isIn: (text: string, values: string[]) => string;
  /** Returns the condition that the text matches one of the patterns, which have `*` at their beginning or end. */
  isLike: (text: string, patterns: string[]) => string;
  or: string;
  query: (dataset: string, condition: string) => string;
};

export const singleQuoted = (values: string[]): string => values.map((value) => `'${value}'`).join(', ');
export const doubleQuoted = (values: string[]): string => values.map((value) => `"${value}"`).join(', ');
export const quotePath = (path: string): string =>
  path
    .split('.')
    .map((name) => `"${name}"`)
    .join('.');

/** Joins the conditions of patterns as a balanced tree, because parsers limit the depth of an expression. */
export function joinBalanced(or: string, patterns: string[], toCondition: (pattern: string) => string): string {
  if (patterns.length <= 8) return `(${patterns.map(toCondition).join(or)})`;
  const half = Math.ceil(patterns.length / 2);
  const join = (part: string[]): string => joinBalanced(or, part, toCondition);
  return `(${join(patterns.slice(0, half))}${or}${join(patterns.slice(half))})`;
}

/** Returns one regular expression for all patterns. Sets such as `[.]` need no backslash in any language. */
export function toRegex(patterns: string[]): string {
  const parts = patterns.map((pattern) => {
    const inner = pattern.replaceAll('*', '').replaceAll(/[.[\]()+?]/g, (sign) => (sign === '[' ? '[[]' : `[${sign}]`));
    return `${pattern.startsWith('*') ? '' : '^'}${inner}${pattern.endsWith('*') ? '' : '$'}`;
  });
  return parts.join('|');
}

export const toLike = (pattern: string): string => pattern.replaceAll('*', '%');
