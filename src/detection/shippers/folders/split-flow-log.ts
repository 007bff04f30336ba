import { inflateBody } from '../../log-ingest/body/inflate.ts';

const newline = 10;

/**
 * Splits the text of a file into bodies of about `bytesMax` at most, at the ends of lines. Each begins with the first line of the file, which
 * names the fields. The file may be gzip. A file with no other line has no body.
 */
export async function* splitFlowLog(file: Buffer, bytesMax: number): AsyncGenerator<Buffer> {
  let header: Buffer | undefined;
  let parts: Buffer[] = [];
  let bytes = 0;
  for await (const slice of inflateBody(file).slices) {
    parts.push(slice);
    bytes += slice.length;
    if (bytes < bytesMax) continue;
    const text = Buffer.concat(parts);
    const lineEnd = text.lastIndexOf(newline) + 1;
    // A line that is longer than a body is cut. Its parts are no flows.
    const end = lineEnd > (header?.length ?? 0) ? lineEnd : text.length;
    yield text.subarray(0, end);
    header ??= firstLineOf(text);
    parts = [header, text.subarray(end)];
    bytes = header.length + text.length - end;
  }
  const text = Buffer.concat(parts);
  if (text.length > (header ?? firstLineOf(text)).length) yield text;
}

const firstLineOf = (text: Buffer): Buffer => text.subarray(0, text.indexOf(newline) + 1);
