/** The words of a text in lower case, with one space before, between and after them, so that `includes` matches whole words. */
export type NormalizedWords = string & { readonly isWords: true };

/** A word consists of letters, digits, combining marks and `+`, `#`, `&` (as in `c++` and `at&t`). Everything else separates words. */
export function normalizeWords(text: string): NormalizedWords {
  const words = text
    .normalize('NFC')
    .toLowerCase()
    .match(/[\p{L}\p{N}\p{M}+#&]+/gu);
  return (words ? ` ${words.join(' ')} ` : ' ') as NormalizedWords;
}
