// Cyrillic and Greek letters, each with the Latin letter that it looks like.
const imitations =
  'аaеeоoрpсcуyхxіiјjѕsԁdһhӏlвbкkмmнhтtАAВBЕEКKМMНHОOРPСCТTУYХXІIЅSЈJαaοoρpνvτtιiκkΑAΒBΕEΗHΙIΚKΜMΝNΟOΡPΤTΥYΧXΖZ';
const latinLetters = new Map([...imitations.matchAll(/(.)(.)/gu)].map(([, from, to]) => [from!, to!]));

/** Characters that are invisible, as themselves or as rows show them (`\u200b`). */
const invisible =
  /\\u(?:00ad|034f|061c|180e|200[b-f]|202[a-e]|206[0-9a-f]|feff)|[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/gi;
const tagCharacter = /[\u{e0020}-\u{e007e}]/gu;

/**
 * Normalizes a text for reading: compatibility forms, letters that imitate Latin ones, invisible characters and Unicode tags become
 * the letters that a model reads. Escaped line breaks become line breaks.
 */
export function foldText(text: string): string {
  if (/^[\x20-\x5b\x5d-\x7e]*$/.test(text)) return text;
  return text
    .replaceAll(invisible, '')
    .replaceAll(tagCharacter, (char) => String.fromCodePoint(char.codePointAt(0)! - 0xe0000))
    .replaceAll(/\\[nrt](?![a-z0-9_])/g, '\n')
    .normalize('NFKC')
    .replaceAll(/[‘’ʼ]/g, "'")
    .replaceAll(/[\p{L}\p{M}]+/gu, foldWord);
}

/** Replaces imitations in a word that also has Latin letters. */
function foldWord(word: string): string {
  if (/^[\u0000-\u024f]+$/.test(word) || !/[A-Za-z]/.test(word)) return word;
  return [...word].map((char) => latinLetters.get(char) ?? char).join('');
}
