import { zstdDecompressSync } from 'node:zlib';
import { parquetMetadata, parquetReadObjects, parquetSchema } from 'hyparquet';

/** A manifest as another engine reads it. */
export type Manifest = {
  version: number;
  dataset: string;
  rows: number;
  columns: { name: string; type: string; key?: string }[];
  files: { path: string; history: boolean; columns: number; rows: number; bytes: number; ingestedFrom: string }[];
};

export type OutsideRow = Record<string, unknown>;

/** Reads a dataset with an engine that is not ours: its manifest, and each file with the values of its partitions. `read` returns a file of the dataset. */
export async function readPublished(
  read: (path: string) => Promise<Buffer>,
): Promise<{ manifest: Manifest; rows: OutsideRow[] }> {
  const manifest = JSON.parse((await read('_manifest.json')).toString()) as Manifest;
  const rows: OutsideRow[] = [];
  for (const { path } of manifest.files) {
    const partitions = Object.fromEntries(
      path
        .split('/')
        .slice(0, -1)
        .map((part) => part.split('=')),
    ) as Record<string, string>;
    const file = toArrayBuffer(await read(path));
    const found = await parquetReadObjects({
      file,
      compressors: { ZSTD: (input) => zstdDecompressSync(input) },
      parsers: { timestampFromMicroseconds: (micros: bigint) => new Date(Number(micros / 1000n)).toISOString() },
    });
    rows.push(...found.map((row) => ({ ...row, ...partitions })));
  }
  return { manifest, rows };
}

/** Returns the type of each top-level column of a Parquet file: its logical type, or else its physical type. */
export function listTypes(file: Buffer): Record<string, string> {
  const { children } = parquetSchema(parquetMetadata(toArrayBuffer(file)));
  return Object.fromEntries(
    children.map(({ element }) => {
      const { logical_type: logical, converted_type: converted, type } = element;
      const isUtc = logical?.type === 'TIMESTAMP' && logical.isAdjustedToUTC;
      return [element.name, `${converted ?? logical?.type ?? type}${isUtc ? ' UTC' : ''}`];
    }),
  );
}

const toArrayBuffer = (bytes: Buffer): ArrayBuffer =>
  bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer;
