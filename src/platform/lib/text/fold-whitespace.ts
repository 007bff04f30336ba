// A single space, which is most of the white space, does not match. The class `[^\S ]` takes three times as long.
const foldedWhitespace = /(?! (?!\s))\s+/g;

/** Replaces each run of white space by a space. */
export const foldWhitespace = (text: string): string => text.replaceAll(foldedWhitespace, ' ');
