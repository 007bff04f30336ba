const none: RegExpExecArray[] = [];

/**
 * Returns all matches of a pattern with the flag `g`, like `String.matchAll`. That method copies the pattern for each call, which takes longer
 * than the search of a sentence.
 */
export function findMatches(pattern: RegExp, text: string): readonly RegExpExecArray[] {
  pattern.lastIndex = 0;
  let match = pattern.exec(text);
  if (!match) return none;
  const found: RegExpExecArray[] = [];
  for (; match; match = pattern.exec(text)) {
    found.push(match);
    // After an empty match the next character follows, which may have two code units.
    if (match[0] === '') pattern.lastIndex += text.codePointAt(match.index)! > 0xffff ? 2 : 1;
  }
  return found;
}

/** Returns whether certain words are directly before an offset of a text. */
export type WordsBefore = (text: string, start: number) => boolean;

/**
 * Returns a check for words directly before an offset, by alternatives of a regular expression. They match backwards from the offset, so a text
 * with other words before it fails at the first character.
 */
export function createWordsBefore(alternatives: readonly string[], flags = 'iu'): WordsBefore {
  const pattern = new RegExp(`(?<=(?:${alternatives.join('|')}))`, `${flags}y`);
  return (text, start) => {
    pattern.lastIndex = start;
    return pattern.test(text);
  };
}
