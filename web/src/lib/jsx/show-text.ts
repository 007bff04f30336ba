const hidden = /[^\P{Cc}\n\t\r]|[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu;
const hasHidden = new RegExp(hidden, 'u');

/**
 * Returns a text with control characters, and marks that change the direction of writing, shown escaped, such as `\u202e`: no title or name can pass
 * for another. The command line and chat messages show texts alike.
 */
export const showText = (text: string): string =>
  hasHidden.test(text)
    ? text.replaceAll(hidden, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
    : text;
