const repetition = /^\{\d+(?:,\d*)?\}/;
/** Escapes that stand for a class of characters, a position or a control character. */
const otherEscapes = new Set('dDsSwWbBAzntrfva');
const punctuation = /^[!-/:-@[-`{-~]$/;
const printable = /^[ -~]$/;
const flagGroup = /^\(\?[a-z-]*\)/i;
const groupOpening = /^\((?:\?(?:P?<\w+>|[a-zA-Z-]*:))?/;
const optional = /^(?:[*?]|\{0)/;
const textsMax = 64;
const depthMax = 50;

/**
 * Returns texts, in lower case, one of which every match of an RE2 expression contains, or undefined. It is conservative: what it does not
 * understand, it does not return. Syntax: github.com/google/re2/wiki/Syntax.
 */
export const requiredLiterals = (source: string, flags: readonly string[]): readonly string[] | undefined =>
  chooseTexts(listRequiredTexts(source, flags));

/** Returns lists of texts, in lower case. Every match of an RE2 expression contains at least one text of each list. Like `requiredLiterals`. */
export function listRequiredTexts(source: string, flags: readonly string[]): readonly (readonly string[])[] {
  // Without regard to case, `s` also matches U+017F, which is its own lower case.
  const breaks = flags.includes('i') || /\(\?[a-z]*i/i.test(source) ? /[sS]/ : undefined;
  const from = flagGroup.exec(source)?.[0].length ?? 0;
  const whole = readAlternatives({ source, breaks }, from, 0);
  return whole?.end === source.length ? whole.required : [];
}

type Pattern = { source: string; breaks: RegExp | undefined };
/** `required` are lists of texts, of each of which a match has one. `end` is the position after what was read. */
type Reading = { required: readonly (readonly string[])[]; end: number };

/** Reads up to the end of a group or of the expression. Returns undefined for what is not understood. */
function readAlternatives(pattern: Pattern, from: number, depth: number): Reading | undefined {
  if (depth > depthMax) return undefined;
  const branches: Reading['required'][] = [];
  for (let at = from; ; at += 1) {
    const branch = readSequence(pattern, at, depth);
    if (!branch) return undefined;
    branches.push(branch.required);
    at = branch.end;
    if (pattern.source[at] === '|') continue;
    return { required: branches.length === 1 ? branches[0]! : joinBranches(branches), end: at };
  }
}

/** Returns what a match of one of several branches has. */
function joinBranches(branches: readonly Reading['required'][]): Reading['required'] {
  const chosen = branches.map(chooseTexts);
  const texts = chosen.every((one) => one !== undefined) ? [...new Set(chosen.flat())] : [];
  return texts.length > 0 && texts.length <= textsMax ? [texts] : [];
}

/** Reads up to a `|` or the end of a group or of the expression. */
function readSequence(pattern: Pattern, from: number, depth: number): Reading | undefined {
  const { source, breaks } = pattern;
  const found: (readonly string[])[] = [];
  let run = '';
  const endRun = (): void => {
    if (run !== '') found.push([run]);
    run = '';
  };
  let at = from;
  while (at < source.length && !'|)'.includes(source[at]!)) {
    const character = source[at]!;
    // A repetition after flags repeats what is before them.
    if (flagGroup.test(source.slice(at, at + 8))) return undefined;
    if (character === '(') {
      const group = readGroup(pattern, at, depth);
      if (!group) return undefined;
      endRun();
      found.push(...group.required);
      at = group.end;
      continue;
    }
    if (character === '[') {
      const end = findClassEnd(source, at);
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
  return { required: found, end: at };
}

/** Reads a group. It has no texts if it may be absent. */
function readGroup(pattern: Pattern, from: number, depth: number): Reading | undefined {
  const { source } = pattern;
  const opening = groupOpening.exec(source.slice(from, from + 100))![0];
  const inner = readAlternatives(pattern, from + opening.length, depth + 1);
  if (!inner || source[inner.end] !== ')') return undefined;
  const end = inner.end + 1;
  return { required: optional.test(source.slice(end, end + 2)) ? [] : inner.required, end };
}

/** Chooses the texts whose shortest is longest, because they rule out most values. */
function chooseTexts(found: readonly (readonly string[])[]): readonly string[] | undefined {
  const shortest = (texts: readonly string[]): number => Math.min(...texts.map(({ length }) => length));
  return found.reduce<readonly string[] | undefined>(
    (best, one) => (best === undefined || shortest(one) > shortest(best) ? one : best),
    undefined,
  );
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
