import { unzipSync } from 'fflate';

export type ZipEntry = { name: string; bytes: Buffer };
export type ZipBounds = { entriesMax: number; entryMaxBytes: number; totalMaxBytes: number };

export const isZip = (bytes: Buffer): boolean =>
  bytes[0] === 0x50 && bytes[1] === 0x4b && bytes[2] === 3 && bytes[3] === 4;

/**
 * The files of a zip archive in memory whose names fit. Names are names only: nothing is written anywhere. What unpacks to more than the
 * archive says is cut there. Throws an Error for an archive that is damaged or beyond its bounds.
 */
export function readZip(bytes: Buffer, fits: (name: string) => boolean, bounds: ZipBounds): ZipEntry[] {
  let [entries, total] = [0, 0];
  let beyond: string | undefined;
  const filter = ({ name, originalSize }: { name: string; originalSize: number }): boolean => {
    if (beyond || !fits(name)) return false;
    entries += 1;
    total += originalSize;
    if (entries > bounds.entriesMax) beyond = `more than ${bounds.entriesMax} files`;
    else if (originalSize > bounds.entryMaxBytes) beyond = `a file larger than ${bounds.entryMaxBytes} bytes`;
    else if (total > bounds.totalMaxBytes) beyond = `more than ${bounds.totalMaxBytes} bytes`;
    return !beyond;
  };
  let files: Record<string, Uint8Array>;
  try {
    files = unzipSync(bytes, { filter });
  } catch (error) {
    throw new Error('the archive cannot be unpacked', { cause: error });
  }
  if (beyond) throw new Error(`the archive holds ${beyond}`);
  return Object.entries(files).map(([name, content]) => ({
    name,
    bytes: Buffer.from(content.buffer, content.byteOffset, content.byteLength),
  }));
}
