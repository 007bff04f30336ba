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
