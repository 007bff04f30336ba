import { createHash } from 'node:crypto';
import { extractItem } from '../../extraction/extract-item.ts';
import { toTextRecord } from '../../extraction/text/text-record.ts';
import { buckets, type Tlp } from '../../model/vocabulary.ts';
import type { SourceRecord } from '../../model/source-record.ts';
import type { SourceDocument } from '../source-document.ts';
import { recognizeValue } from './recognize-value.ts';
import type { ParseContext } from '../source-format.ts';

const textMaxChars = 1_000_000;

/** A table of Markdown or AsciiDoc. */
const markupTable = /^[ \t]*(?:\|[ \t]*)?:?-{3,}:?[ \t]*\|[ \t:|-]*$|^\|===[ \t]*$/m;

/** Returns whether a text is Markdown or AsciiDoc with a table. */
export const isMarkup = (text: string): boolean => text.length <= textMaxChars && markupTable.test(text);

const commentWithAddress = /^\s*(?:#|;|\/\/)[^\n]*(?:\/\/|\w\.\w|@)/;
const heading = /^[ \t]*(?:#{1,3}|=)[ \t]+(\S.{2,200})$/m;

/** The first line, followed by an empty one: `2026-07-30 - A campaign with documents for Emotet`. */
const firstLine = /^\s*(\S[^\r\n]{15,148}[^\s:.;,])[ \t]*\r?\n[ \t]*\r?\n/;

/** Returns the first line of a text if it is a headline: at least four words and no value. */
function findHeadline(text: string): string | undefined {
  const line = firstLine.exec(text)?.[1]?.replace(/^[#=*\s-]+/, '');
  const words = line?.split(/\s+/) ?? [];
  return words.length >= 4 && words.every((word) => recognizeValue(word).length === 0) ? line : undefined;
}

type ReportContext = ParseContext & { part: SourceDocument; tlp: Tlp | undefined };

/**
 * Returns the record of a text with values between its lines, such as the indicators of a report in Markdown. Returns undefined for a text
 * without values, for JSON and for markup such as an error page.
 */
export function readReport(text: string, { part, tlp, sourceName, lists }: ReportContext): SourceRecord | undefined {
  if (text.length > textMaxChars || /^\s*[<[{]/.test(text)) return undefined;
  // The comments of a list are about its publisher. Headings contain no addresses.
  const lines = text.split(/\r?\n/).filter((line) => !commentWithAddress.test(line));
  const start = text.slice(0, 2_000);
  const title = heading.exec(start)?.[1]?.trim() ?? findHeadline(start) ?? sourceName ?? part.name;
  const extracted = extractItem({ text: lines.join('\n'), title, sourceUrl: part.url }, lists);
  if (buckets.every((bucket) => extracted.iocs[bucket].length === 0)) return undefined;
  const key = createHash('sha256')
    .update(JSON.stringify([title, extracted.storedText]))
    .digest('hex');
  return {
    ...toTextRecord(extracted, { recordId: part.name, canonicalKey: `txt:${key}`, textUrl: part.url, tlp }),
    publishTime: extracted.publishTime ?? part.modified,
    isProse: true,
  };
}
