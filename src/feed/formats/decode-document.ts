import iconv from 'iconv-lite';

/** Byte order marks, the longer ones first (XML 1.0, appendix F). */
const marks: [Buffer, string][] = [
  [Buffer.from([0x00, 0x00, 0xfe, 0xff]), 'utf-32be'],
  [Buffer.from([0xff, 0xfe, 0x00, 0x00]), 'utf-32le'],
  [Buffer.from([0xef, 0xbb, 0xbf]), 'utf-8'],
  [Buffer.from([0xfe, 0xff]), 'utf-16be'],
  [Buffer.from([0xff, 0xfe]), 'utf-16le'],
  // `<` and `<?` in wide encodings without a mark.
  [Buffer.from([0x00, 0x00, 0x00, 0x3c]), 'utf-32be'],
  [Buffer.from([0x3c, 0x00, 0x00, 0x00]), 'utf-32le'],
  [Buffer.from([0x00, 0x3c, 0x00, 0x3f]), 'utf-16be'],
  [Buffer.from([0x3c, 0x00, 0x3f, 0x00]), 'utf-16le'],
];
const headBytes = 4_096;

/**
 * Decodes an XML or HTML document by its byte order mark, the content type, or its own declaration. Without a valid one, it is decoded as
 * UTF-8 if possible and as windows-1252 otherwise, as is one that claims to be UTF-8 and is not. Never throws: single invalid bytes become U+FFFD.
 */
export function decodeDocument(bytes: Buffer, contentType: string | undefined): string {
  const mark = marks.find(([start]) => bytes.subarray(0, start.length).equals(start));
  const stated = [mark?.[1], readCharset(contentType), readDeclaration(bytes)];
  for (const name of stated) {
    if (name === undefined) continue;
    // Documents declared as ASCII are often UTF-8.
    if (/^(?:us-)?ascii$|^utf-?8$/i.test(name)) break;
    if (iconv.encodingExists(name)) return iconv.decode(bytes, widenEncoding(name));
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    const text = new TextDecoder('utf-8').decode(bytes);
    const claimsUtf8 = stated.some((name) => name !== undefined && /^utf-?8$/i.test(name));
    return claimsUtf8 && isMostlyUtf8(text) ? text : iconv.decode(bytes, 'windows-1252');
  }
}

/** Returns whether the characters beyond ASCII are more than those that could not be decoded. Otherwise the claim of the document is wrong. */
const isMostlyUtf8 = (text: string): boolean =>
  (text.match(/[^\u0000-\u007F\uFFFD]/g)?.length ?? 0) > (text.match(/\uFFFD/g)?.length ?? 0);

/** Returns the superset that pages use when they declare a smaller encoding (WHATWG Encoding). */
const widenEncoding = (name: string): string =>
  /^(?:iso-?8859-1|latin-?1)$/i.test(name) ? 'windows-1252' : /^(?:gb2312|gbk)$/i.test(name) ? 'gb18030' : name;

const readCharset = (contentType: string | undefined): string | undefined =>
  /;\s*charset\s*=\s*"?\s*([\w.:-]{1,40})/i.exec(contentType ?? '')?.[1];

function readDeclaration(bytes: Buffer): string | undefined {
  const head = bytes.subarray(0, headBytes).toString('latin1');
  const declared =
    /^\s*<\?xml[^>]{0,200}?\bencoding\s*=\s*["']([\w.:-]{1,40})["']/i.exec(head) ??
    /<meta\b[^>]{0,200}?\bcharset\s*=\s*["']?\s*([\w.:-]{1,40})/i.exec(head);
  // A declaration that is readable as Latin-1 disproves a wide encoding.
  return declared && !/^(?:utf-?16|utf-?32|ucs)/i.test(declared[1]!) ? declared[1] : undefined;
}
