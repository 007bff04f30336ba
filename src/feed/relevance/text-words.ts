/** A text as its words in lower case, one blank before, between and after: whole words are then found by plain search. */
export type NormalizedWords = string & { readonly isWords: true };

/** Letters, digits and the marks inside names (`c++`, `.net`, `at&t`) make a word; everything else parts them. */
export function inWords(text: string): NormalizedWords {
  const words = text
    .normalize('NFC')
    .toLowerCase()
    .match(/[\p{L}\p{N}\p{M}+#&]+/gu);
  return (words ? ` ${words.join(' ')} ` : ' ') as NormalizedWords;
}
