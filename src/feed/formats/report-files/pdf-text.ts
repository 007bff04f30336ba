import { getDocumentProxy } from 'unpdf';
import { ExternalError } from '../../../platform/lib/external-error.ts';

/**
 * What a file of a report says. `text` is its prose, `publishTime` an RFC 3339 time or a date alone. `unread` has the names of attached files that
 * could not be read, each with the reason. Images are not among them.
 */
export type ReportFile = { text: string; title?: string; publishTime?: string; unread?: string[] };

const pagesMax = 500;
/** The share of pages on which a line at the edge stands if it is a running header or footer. */
const runningShareMin = 0.6;
const edgeLines = 2;

type TextItem = { str: string; transform: number[]; width: number; height: number; hasEOL: boolean };
type Line = { text: string; top: number; height: number };

/**
 * Returns the text of a PDF with its paragraphs, without headers and footers that repeat on its pages, and its title. Throws an Error for a document that is damaged, encrypted or has no text, such as a scan.
 */
export async function readPdf(bytes: Uint8Array): Promise<ReportFile> {
  // The library takes over the bytes that it is given. Fonts and scripts are of no use for the text.
  const pdf = await getDocumentProxy(new Uint8Array(bytes), {
    verbosity: 0,
    disableFontFace: true,
    useSystemFonts: false,
    stopAtErrors: false,
    enableXfa: false,
  }).catch(throwReadable);
  try {
    if (pdf.numPages > pagesMax) throw new ExternalError(`the PDF has more than ${pagesMax} pages`);
    const pages: Line[][] = [];
    for (let number = 1; number <= pdf.numPages; number += 1) {
      const page = await pdf.getPage(number).catch(throwReadable);
      const { items } = await page.getTextContent().catch(throwReadable);
      pages.push(toLines(items.filter((item): item is TextItem & (typeof items)[number] => 'str' in item)));
      page.cleanup();
    }
    const text = withoutRunningLines(pages).map(toParagraphs).join('\n\n');
    if (text.trim() === '') throw new ExternalError('the PDF has no text. Images of pages are not read');
    const { info } = await pdf.getMetadata().catch(() => ({ info: {} }));
    return { text: joinSplitHashes(text), ...readTitle(info) };
  } finally {
    await pdf.loadingTask.destroy();
  }
}

function throwReadable(error: unknown): never {
  const name = error instanceof Error ? error.name : '';
  if (name === 'PasswordException') throw new ExternalError('the PDF is encrypted. Send a copy without a password');
  throw new ExternalError('the PDF is damaged');
}

/** Joins the pieces of each line. A wide gap between two pieces is a column of a table. */
function toLines(items: readonly TextItem[]): Line[] {
  const lines: Line[] = [];
  let end = Number.NaN;
  for (const { str, transform, width, height } of items) {
    if (str === '') continue;
    const [, , , , left = 0, top = 0] = transform;
    const last = lines.at(-1);
    const size = height || last?.height || 10;
    if (!last || Math.abs(top - last.top) > size / 2) lines.push({ text: str, top, height: size });
    else {
      const gap = left - end;
      last.text += `${gap > 2 * size ? '\t' : gap > size / 5 && !/\s$/.test(last.text) ? ' ' : ''}${str}`;
      last.height = Math.max(last.height, height);
    }
    end = left + width;
  }
  return lines.map((line) => ({ ...line, text: line.text.trim() })).filter(({ text }) => text !== '');
}

/** Removes what stands at the edge of most pages, apart from its numbers. */
function withoutRunningLines(pages: Line[][]): Line[][] {
  if (pages.length < 2) return pages;
  const keyOf = ({ text }: Line): string => text.replaceAll(/\d+/g, '0');
  const edgesOf = (lines: Line[]): Set<Line> => new Set([...lines.slice(0, edgeLines), ...lines.slice(-edgeLines)]);
  const counts = new Map<string, number>();
  for (const lines of pages)
    for (const key of new Set([...edgesOf(lines)].map(keyOf))) counts.set(key, (counts.get(key) ?? 0) + 1);
  return pages.map((lines) => {
    const edges = edgesOf(lines);
    return lines.filter((line) => !edges.has(line) || counts.get(keyOf(line))! < pages.length * runningShareMin);
  });
}

/** A gap that is wider than the usual one, and a change of the size of letters, begin a paragraph. */
function toParagraphs(lines: Line[]): string {
  const gaps = lines.slice(1).map((line, index) => lines[index]!.top - line.top);
  const usual = gaps.filter((gap) => gap > 0).toSorted((a, b) => a - b)[Math.floor(gaps.length / 4)] ?? 0;
  return lines
    .map(({ text, height }, index) => {
      if (index === 0) return text;
      const isSame = Math.abs(height - lines[index - 1]!.height) < height / 10;
      const gap = gaps[index - 1]!;
      return isSame && gap > 0 && gap <= usual * 1.3 ? `\n${text}` : `\n\n${text}`;
    })
    .join('');
}

/** MD5, SHA-1, SHA-256, SHA-384 and SHA-512. */
const hashLengths = new Set([32, 40, 64, 96, 128]);

/** Joins a hash that a narrow column broke over lines: neighboring lines of hexadecimal digits that make up a hash and are not hashes themselves. */
function joinSplitHashes(text: string): string {
  return text.replaceAll(/(?<![^\n])[\da-f]+(?:\n{1,2}[\da-f]+)+(?![^\n])/gi, (block) => {
    const joined: string[] = [];
    let open: string[] = [];
    for (const part of block.split(/\n+/)) {
      open.push(part);
      const whole = open.join('');
      const isSplit = hashLengths.has(whole.length) && open.some(({ length }) => !hashLengths.has(length));
      if (isSplit) joined.push(whole);
      else if (whole.length > 128) joined.push(...open);
      else continue;
      open = [];
    }
    return [...joined, ...open].join('\n');
  });
}

/** Documents often state no title, or that of the program or the file that they were made from. Their dates are often those of a print. */
function readTitle({ Title }: { Title?: unknown }): Pick<ReportFile, 'title'> {
  const title = typeof Title === 'string' ? Title.trim() : '';
  const isUseful = /\p{L}\s+\S*\p{L}/u.test(title) && !/\.\w{2,5}$|^Microsoft /i.test(title);
  return isUseful ? { title: title.slice(0, 300) } : {};
}
