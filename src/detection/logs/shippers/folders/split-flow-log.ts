import { inflateBody } from '../../ingestion/inflate.ts';

const newline = 10;

/**
 * Splits the text of a file into bodies of about `bytesMax` at most, at the ends of lines. Each begins with the first line of the file, which
 * names the fields. The file may be gzip.
 */
export async function* splitFlowLog(file: Buffer, bytesMax: number): AsyncGenerator<Buffer> {
  let header: Buffer | undefined;
  let rest: Buffer = Buffer.alloc(0);
  for await (const slice of inflateBody(file).slices) {
    rest = Buffer.concat([rest, slice]);
    const end = rest.lastIndexOf(newline) + 1;
    if (end === 0) continue;
    header ??= rest.subarray(0, rest.indexOf(newline) + 1);
    if (rest.length < bytesMax) continue;
    yield rest.subarray(0, end);
    rest = Buffer.concat([header, rest.subarray(end)]);
  }
  if (rest.length > (header?.length ?? 0)) yield rest;
}
