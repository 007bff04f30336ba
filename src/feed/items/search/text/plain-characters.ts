/** Typographic characters and their ASCII replacements. All are one UTF-16 unit, so that offsets in a text stay the same. */
const replacements: [characters: string, plain: string][] = [
  ['‐‑‒–—―−﹣', '-'],
  ['‘’‚‛ʼ`´′', "'"],
  ['“”„‟«»″', '"'],
  ['…•·¶§°™®©、。・「」『』【】《》〈〉\u00a0\u2002\u2003\u2009\u202f\u3000\ufeff', ' '],
];

/** The characters, and those that replace them at the same place, as SQL's `translate` expects them. */
export const typographic = {
  from: replacements.map(([characters]) => characters).join(''),
  to: replacements.map(([characters, plain]) => plain.repeat(characters.length)).join(''),
};

const plainByCharacter = new Map(
  replacements.flatMap(([characters, plain]) => [...characters].map((character) => [character, plain] as const)),
);
const replaced = new RegExp(`[${typographic.from}]`, 'g');

/** Replaces typographic characters by ASCII ones at the same places. */
export const replaceTypographic = (text: string): string =>
  text.replaceAll(replaced, (character) => plainByCharacter.get(character)!);

const hasOthers = /[^\u0000-\u007f]/;
const fullWidth = /[\uff01-\uff5e]/g;
const others = /[^\u0000-\u007f\p{L}\p{M}\p{N}\u200c\u200d]/gu;
const invisible = /[\u00ad\u200b\u2060]/g;

/**
 * Replaces characters that PostgreSQL's parser may take for letters, such as typographic quotation marks, dashes, and symbols, by ASCII ones or
 * spaces. Soft hyphens and spaces without width are removed.
 */
export const toPlainCharacters = (text: string): string =>
  hasOthers.test(text)
    ? text
        .replaceAll(invisible, '')
        .replaceAll(fullWidth, (character) => String.fromCharCode(character.charCodeAt(0) - 0xfee0))
        .replaceAll(others, (character) => plainByCharacter.get(character) ?? ' ')
    : text;
