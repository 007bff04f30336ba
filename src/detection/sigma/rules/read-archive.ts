import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { extract } from 'tar-stream';
import { Readable } from 'node:stream';
import { ExternalError } from '../../../platform/lib/external-error.ts';
import { isZip, readZip, type ZipEntry } from '../../../platform/lib/storage/zip.ts';

const bounds = { entriesMax: 20_000, entryMaxBytes: 1024 * 1024, totalMaxBytes: 24 * 1024 * 1024 };
/** The files of a repository that are no rules are unpacked too. */
const tarBytesMax = 256 * 1024 * 1024;
const gunzipAsync = promisify(gunzip);

const isRuleFile = (name: string): boolean => /\.ya?ml$/i.test(name);

/**
 * Returns the YAML of the rules in a zip archive, a tar.gz archive or a YAML file: the `.yml` and `.yaml` files of an archive, by name. Throws an
 * `ExternalError` if there are none, the archive is damaged, or it has more than 20,000 such files or 24 MiB of them.
 */
export async function readRuleText(content: Uint8Array): Promise<string> {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  if (bytes[0] !== 0x1f && !isZip(bytes)) return toText(bytes, 'the file');
  const files = isZip(bytes) ? readZip(bytes, isRuleFile, bounds) : await readTar(await unpack(bytes));
  if (files.length === 0) throw new ExternalError('the archive contains no .yml files');
  return files
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map((file) => toText(file.bytes, file.name))
    .join('\n---\n');
}

function toText(bytes: Buffer, name: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw new ExternalError(`${name} is not UTF-8 text`, { cause: error });
  }
}

async function unpack(bytes: Buffer): Promise<Buffer> {
  try {
    return await gunzipAsync(bytes, { maxOutputLength: tarBytesMax });
  } catch (error) {
    throw new ExternalError('the archive cannot be unpacked', { cause: error });
  }
}

/** Reads the rule files of a tar archive. Names are never used as paths. */
async function readTar(bytes: Buffer): Promise<ZipEntry[]> {
  const files: ZipEntry[] = [];
  let total = 0;
  try {
    for await (const entry of Readable.from([bytes]).pipe(extract())) {
      const { name, type, size = 0 } = entry.header;
      const isWanted = type === 'file' && isRuleFile(name);
      if (isWanted) total += size;
      if (total > bounds.totalMaxBytes || size > tarBytesMax || files.length >= bounds.entriesMax)
        throw new ExternalError(
          `the archive contains more than ${bounds.entriesMax} files or ${bounds.totalMaxBytes} bytes`,
        );
      const chunks: Buffer[] = [];
      for await (const chunk of entry) if (isWanted) chunks.push(chunk as Buffer);
      if (isWanted) files.push({ name, bytes: Buffer.concat(chunks) });
    }
  } catch (error) {
    if (error instanceof ExternalError) throw error;
    throw new ExternalError('the archive cannot be unpacked', { cause: error });
  }
  return files;
}
