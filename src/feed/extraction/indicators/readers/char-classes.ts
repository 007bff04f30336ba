// Bits: 1 word character, 2 hexadecimal digit, 4 digit, 16 see `nameBit`; 8 alone: letter of a script without spaces.
const classes = new Uint8Array(0x1_0000);
const letter = /[\p{L}\p{M}\p{Nd}]/u;
const unspacedLetter =
  /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Hangul}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]/u;
for (let code = 0; code < classes.length; code += 1) {
  const char = String.fromCharCode(code);
  if (code < 128) {
    if (/[\w-]/.test(char)) classes[code] = 1;
    if (/[0-9a-f]/i.test(char)) classes[code]! |= 2;
    if (/\d/.test(char)) classes[code]! |= 4;
    if (/[acmt]/i.test(char)) classes[code]! |= 16;
  } else if (code >= 0xc0 && letter.test(char)) classes[code] = unspacedLetter.test(char) ? 8 : 1;
}

/** Letters and punctuation of scripts without spaces, for a regular expression class. They end a value. */
export const unspacedScripts = String.raw`\u0E00-\u0EFF\u1000-\u109F\u1780-\u17FF\u3000-\u30FF\u3400-\u9FFF\uAC00-\uD7AF\uFF00-\uFFEF`;

const hyphen = 0x2d;
const dot = 0x2e;
const labelsMax = 40;

/** Returns the bits of a character, 0 outside words and past the end of the text (where the code is NaN). */
export const getCharClass = (code: number): number => (code < 0x1_0000 ? classes[code]! : 0);

export const isWordCharAt = (text: string, at: number): boolean => getCharClass(text.charCodeAt(at)) > 0;

/** Marks the first letters of identifiers: `AS64496`, `CVE-…`, `mutex`, `T1059`. */
export const nameBit = 16;

/** The bits that the characters of one word share. Latin letters and letters of a script without spaces form separate words. */
export const kindBits = 9;

/** Returns the end of a run of words joined by single dots. */
export function findDottedEnd(text: string, start: number): number {
  let at = start;
  for (let labels = 0; labels < labelsMax; labels += 1) {
    const kind = getCharClass(text.charCodeAt(at)) & kindBits;
    while (getCharClass(text.charCodeAt(at)) & kind) at += 1;
    if (text.charCodeAt(at) !== dot || !isWordCharAt(text, at + 1)) break;
    at += 1;
  }
  while (text.charCodeAt(at - 1) === hyphen) at -= 1;
  return at;
}
