/**
 * Control characters except line feed and tab, with which a text could drive a terminal, and the marks that change the direction of writing, with
 * which it could pass for another (Unicode TR 36, 3.5).
 */
const hidden = /[^\P{Cc}\n\t]|[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu;

const escape = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** Returns a text of several lines for people to read: hidden characters are shown escaped, such as `\u202e`. In JSON, the value stays the same. */
export const showText = (text: string): string => text.replaceAll('\r\n', '\n').replaceAll(hidden, escape);

/** Like `showText` for a text of one line, in which line breaks and tabs are escaped as well. */
export const showLine = (text: string): string => showText(text).replaceAll(/[\n\t]/g, escape);
