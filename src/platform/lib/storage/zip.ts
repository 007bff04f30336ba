import { unzipSync } from 'fflate';
import { ExternalError } from '../external-error.ts';

export type ZipEntry = { name: string; bytes: Buffer };
export type ZipBounds = { entriesMax: number; entryMaxBytes: number; totalMaxBytes: number };

export const isZip = (bytes: Buffer): boolean =>
  bytes[0] === 0x50 && bytes[1] === 0x4b && bytes[2] === 3 && bytes[3] === 4;

/**
 * Unpacks the wanted files of a zip archive in memory. Names are never used as paths and nothing is written to disk. A file that
 * unpacks to more than the archive declares is cut off there. Throws an `ExternalError` if the archive is damaged or exceeds its bounds.
 */
export function readZip(bytes: Buffer, isWanted: (name: string) => boolean, bounds: ZipBounds): ZipEntry[] {
  let [entries, total, exceeded] = [0, 0, ''];
  const check = ({ name, originalSize }: { name: string; originalSize: number }): boolean => {
    if (exceeded || !isWanted(name)) return false;
    entries += 1;
    total += originalSize;
    if (entries > bounds.entriesMax) exceeded = `more than ${bounds.entriesMax} files`;
    else if (originalSize > bounds.entryMaxBytes) exceeded = `a file larger than ${bounds.entryMaxBytes} bytes`;
    else if (total > bounds.totalMaxBytes) exceeded = `more than ${bounds.totalMaxBytes} bytes`;
    return false;
  };
  let files: Record<string, Uint8Array> = {};
  try {
    unzipSync(bytes, { filter: check }); // Unpacks nothing.
    if (!exceeded) files = unzipSync(bytes, { filter: ({ name }) => isWanted(name) });
  } catch (error) {
    throw new ExternalError('the archive cannot be unpacked', { cause: error });
  }
  if (exceeded) throw new ExternalError(`the archive contains ${exceeded}`);
  return Object.entries(files).map(([name, content]) => ({
    name,
    bytes: Buffer.from(content.buffer, content.byteOffset, content.byteLength),
  }));
}
