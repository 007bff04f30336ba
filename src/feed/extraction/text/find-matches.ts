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
