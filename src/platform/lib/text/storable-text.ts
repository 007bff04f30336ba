// Apart from the schemas of texts, because threads and engine processes that need it load nothing else.

const unprintable = /[\0-\u0008\u000E-\u001F\u007F]/;
const eachUnprintable = /[\0-\u0008\u000E-\u001F\u007F]/g;

/** Returns whether PostgreSQL can store a text: it has neither U+0000 nor a lone surrogate. */
export const isStorable = (text: string): boolean => !text.includes('\u0000') && text.isWellFormed();

/**
 * Replaces control characters other than white space, and lone surrogates, with U+FFFD, so that a text that was damaged on its way can be stored
 * and read. Its length stays the same.
 */
export function toStorableText(text: string): string {
  const wellFormed = text.toWellFormed();
  return unprintable.test(wellFormed) ? wellFormed.replaceAll(eachUnprintable, '\uFFFD') : wellFormed;
}

/** Replaces characters that XML does not allow. */
export const toXmlText = (text: string): string =>
  text.replaceAll(/[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/g, ' ').toWellFormed();
