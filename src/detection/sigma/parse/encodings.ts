export type WideEncoding = 'utf16le' | 'utf16be' | 'utf16';

const wideMark = '\u0000';

/** Returns the UTF-16 bytes of ASCII text as characters, so that a later `base64` encodes these bytes. `utf16` begins with a byte order mark. */
export function toWideText(text: string, encoding: WideEncoding): string {
  if (!/^[\x01-\x7f]*$/.test(text)) throw new Error('wide and utf16 modifiers require ASCII text');
  if (encoding === 'utf16be') return [...text].map((character) => wideMark + character).join('');
  const little = [...text].map((character) => character + wideMark).join('');
  return encoding === 'utf16' ? `\u00ff\u00fe${little}` : little;
}

const hasByteOrderMark = (text: string): boolean => text.startsWith('\u00ff\u00fe');

/** Text that a wide modifier produced stands for bytes, other text for its UTF-8 form. */
const toBytes = (text: string): Buffer => Buffer.from(text, hasByteOrderMark(text) ? 'latin1' : 'utf8');

export const encodeBase64 = (text: string): string => toBytes(text).toString('base64');

/** Returns the parts of a text's Base64 form that do not depend on the bytes around it, for each of the three positions that it can have. */
export function encodeBase64Offsets(text: string): string[] {
  const bytes = toBytes(text);
  return [0, 1, 2].map((offset) => {
    const encoded = Buffer.concat([Buffer.alloc(offset, ' '), bytes]).toString('base64');
    const start = [0, 2, 3][offset]!;
    const cut = [0, 3, 2][(bytes.length + offset) % 3]!;
    return encoded.slice(start, encoded.length - cut);
  });
}
