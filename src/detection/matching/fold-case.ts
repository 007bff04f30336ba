// Letters whose lower case is newer than the Unicode version of the embedded engine.
const unfolded = /[\u1c89\ua7cb\ua7cc\ua7ce\ua7d2\ua7d4\ua7da\ua7dc\u{10d50}-\u{10d65}\u{16ea0}-\u{16eb8}]/u;
/** Letters that `toLowerCase` of a whole text does not fold as it folds each of them: one becomes two, one depends on its neighbors. */
const special = /[\u0130\u03a3]/;

/**
 * Returns the text in lower case, one character for each character, exactly as `lower` of the embedded engine does. In contrast to
 * `toLowerCase`, no character becomes two and none depends on its neighbors.
 */
export function foldCase(text: string): string {
  if (!special.test(text) && !unfolded.test(text)) return text.toLowerCase();
  let result = '';
  for (const character of text) result += foldCharacter(character);
  return result;
}

function foldCharacter(character: string): string {
  if (character === '\u0130') return 'i';
  const lower = character.toLowerCase();
  const isSingle = lower.length === (lower.codePointAt(0)! > 0xffff ? 2 : 1);
  return isSingle && !unfolded.test(character) ? lower : character;
}
