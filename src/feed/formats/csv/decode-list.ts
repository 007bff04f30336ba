import { isUtf8 } from 'node:buffer';
import { unpackGzip } from '../../../platform/lib/json/json-values.ts';
import { decodeDocument } from '../rss/xml/decode-document.ts';
import { ExternalError } from '../../../platform/lib/external-error.ts';

/** Bytes of UTF-16, as spreadsheets and PowerShell write it. */
const wideMarks = [
  [0xff, 0xfe],
  [0xfe, 0xff],
];

/**
 * Decodes a list, gzipped or not: UTF-8, UTF-16 with or without a byte order mark, or else windows-1252, in which spreadsheets save. Throws an Error for
 * bytes that are no text.
 */
export function decodeList(bytes: Buffer): string {
  const unpacked = unpackGzip(bytes);
  const wide = findUnmarkedWide(unpacked);
  if (wide) return new TextDecoder(wide).decode(unpacked);
  if (isUtf8(unpacked)) return unpacked.toString('utf8').replace(/^\uFEFF/, '');
  const isWide = wideMarks.some(([first, second]) => unpacked[0] === first && unpacked[1] === second);
  const isText = isWide ? unpacked.length % 2 === 0 : !unpacked.some((byte) => isControl(byte));
  if (!isText) throw new ExternalError('the document is not UTF-8, UTF-16 or windows-1252');
  return decodeDocument(unpacked, undefined).replace(/^\uFEFF/, '');
}

/** Returns the byte order of UTF-16 without a mark: nearly every second byte of its Latin text is zero. */
function findUnmarkedWide(bytes: Buffer): 'utf-16le' | 'utf-16be' | undefined {
  const head = bytes.subarray(0, 1_000);
  const countZeros = (parity: number): number =>
    head.filter((byte, index) => byte === 0 && index % 2 === parity).length;
  const [even, odd] = [countZeros(0), countZeros(1)];
  const [most, least] = [Math.max(even, odd), Math.min(even, odd)];
  if (bytes.length % 2 !== 0 || least > 0 || most < head.length * 0.4) return undefined;
  return odd > even ? 'utf-16le' : 'utf-16be';
}

/** Returns whether a byte is a control character other than a tab, a line break or a form feed. */
const isControl = (byte: number): boolean => byte < 9 || (byte > 13 && byte < 32);
