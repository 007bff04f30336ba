// Letters whose lower case is newer than the Unicode version of the embedded engine.
const unfolded = /[\u1c89\ua7cb\ua7cc\ua7ce\ua7d2\ua7d4\ua7da\ua7dc\u{10d50}-\u{10d65}\u{16ea0}-\u{16eb8}]/u;
const ascii = /^[\0-\x7f]*$/;

/**
 * Returns the text in lower case, one character for each character, exactly as `lower` of the embedded engine does. In contrast to
 * `toLowerCase`, no character becomes two and none depends on its neighbors.
 */
export function foldCase(text: string): string {
  if (ascii.test(text)) return text.toLowerCase();
  let folded = '';
  for (const character of text) folded += foldCharacter(character);
  return folded;
}

function foldCharacter(character: string): string {
  if (character === '\u0130') return 'i';
  const lower = character.toLowerCase();
  const isSingle = lower.length === (lower.codePointAt(0)! > 0xffff ? 2 : 1);
  return isSingle && !unfolded.test(character) ? lower : character;
}
