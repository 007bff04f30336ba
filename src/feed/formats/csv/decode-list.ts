import { isUtf8 } from 'node:buffer';
import { unpackGzip } from '../../../platform/lib/json/json-values.ts';
import { decodeDocument } from '../rss/xml/decode-document.ts';

/** Bytes of UTF-16, as spreadsheets and PowerShell write it. */
const wideMarks = [
  [0xff, 0xfe],
  [0xfe, 0xff],
];

/**
 * Decodes a list, gzipped or not: UTF-8, UTF-16 with a byte order mark, or else windows-1252, in which spreadsheets save. Throws an Error for
 * bytes that are no text.
 */
export function decodeList(bytes: Buffer): string {
  const unpacked = unpackGzip(bytes);
  if (isUtf8(unpacked)) return unpacked.toString('utf8').replace(/^\uFEFF/, '');
  const isWide = wideMarks.some(([first, second]) => unpacked[0] === first && unpacked[1] === second);
  const isText = isWide ? unpacked.length % 2 === 0 : !unpacked.some((byte) => isControl(byte));
  if (!isText) throw new Error('the document is not UTF-8, UTF-16 or windows-1252');
  return decodeDocument(unpacked, undefined).replace(/^\uFEFF/, '');
}

/** Control characters other than tabs, line breaks and form feeds. */
const isControl = (byte: number): boolean => byte < 9 || (byte > 13 && byte < 32);
