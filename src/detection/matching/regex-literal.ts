const repetition = /^\{\d+(?:,\d*)?\}/;
/** Escapes that stand for a class of characters, a position or a control character. */
const otherEscapes = new Set('dDsSwWbBAzntrfva');
const punctuation = /^[!-/:-@[-`{-~]$/;
const printable = /^[ -~]$/;
const flagGroup = /^\(\?[a-z-]*\)/i;

/**
 * Returns the longest text, in lower case, that every match of an RE2 expression contains outside of groups, or undefined. It is conservative:
 * what it does not understand, it does not return. Syntax: github.com/google/re2/wiki/Syntax.
 */
export function requiredLiteral(source: string, flags: readonly string[]): string | undefined {
  // Without regard to case, `s` also matches U+017F, which is its own lower case.
  const breaks = flags.includes('i') || /\(\?[a-z]*i/i.test(source) ? /[sS]/ : undefined;
  const runs: string[] = [];
  let run = '';
  const endRun = (): void => {
    runs.push(run);
    run = '';
  };
  for (let at = 0; at < source.length;) {
    const character = source[at]!;
    // A repetition after flags repeats what is before them.
    if ('|)'.includes(character) || (at > 0 && flagGroup.test(source.slice(at, at + 8)))) return undefined;
    if ('(['.includes(character)) {
      const end = character === '(' ? findGroupEnd(source, at) : findClassEnd(source, at);
      if (end === undefined) return undefined;
      endRun();
      at = end;
      continue;
    }
    let literal: string | undefined;
    let length = 1;
    if (character === '\\') {
      const escaped = source[at + 1] ?? '';
      length = 2;
      if (punctuation.test(escaped)) literal = escaped;
      else if (!otherEscapes.has(escaped)) return undefined;
    } else if ('*?{'.includes(character)) {
      run = run.slice(0, -1);
      length = repetition.exec(source.slice(at, at + 12))?.[0].length ?? 1;
    } else if (!'+.^$'.includes(character)) literal = character;
    if (literal === undefined || !printable.test(literal) || breaks?.test(literal)) endRun();
    else run += literal.toLowerCase();
    at += length;
  }
  endRun();
  const longest = runs.reduce((best, one) => (one.length > best.length ? one : best));
  return longest === '' ? undefined : longest;
}

/** Returns the position after the group that begins at `from`, or undefined if it does not end. */
function findGroupEnd(source: string, from: number): number | undefined {
  let depth = 0;
  for (let at = from; at < source.length; at++) {
    const character = source[at]!;
    if (character === '\\') {
      // Quoted text may have any parentheses.
      if (source[at + 1] === 'Q') return undefined;
      at += 1;
    } else if (character === '[') {
      const end = findClassEnd(source, at);
      if (end === undefined) return undefined;
      at = end - 1;
    } else if (character === '(') depth += 1;
    else if (character === ')' && --depth === 0) return at + 1;
  }
  return undefined;
}

/** Returns the position after the character class that begins at `from`, or undefined if it does not end or has a class inside. */
function findClassEnd(source: string, from: number): number | undefined {
  let at = from + 1;
  if (source[at] === '^') at += 1;
  // The first bracket is a member.
  if (source[at] === ']') at += 1;
  for (; at < source.length; at++) {
    if (source[at] === '\\') at += 1;
    else if (source[at] === '[' && source[at + 1] === ':') return undefined;
    else if (source[at] === ']') return at + 1;
  }
  return undefined;
}
