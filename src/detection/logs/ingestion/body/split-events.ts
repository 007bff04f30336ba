import { appError } from '../../../../platform/lib/errors.ts';
import { eventBytesMax } from '../events/parse-event.ts';

/** One event's bytes. `line` is the number, from 1, of its line, or of its element in an array or in CloudTrail's `Records`. */
export type RawEvent = { line: number; bytes: Buffer; tooLarge?: boolean };

type Mode = 'start' | 'lines' | 'elements' | 'after';

const recordsHead = /^\s*\{\s*"Records"\s*:\s*\[/;
const headMax = 256;
// Blank lines and invalid events cost time too.
const linesMax = 1_000_000;
const quote = 34;
const backslash = 92;
const newline = 10;

const isSpace = (byte: number): boolean => byte === 32 || byte === 9 || byte === 13 || byte === newline;

function findNonSpace(bytes: Buffer): number {
  for (let at = 0; at < bytes.length; at += 1) if (!isSpace(bytes[at]!)) return at;
  return -1;
}

export type EventSplitter = { push: (chunk: Buffer) => RawEvent[]; end: () => RawEvent[] };

/**
 * Splits a body into events: the lines of NDJSON, or the elements of an array or of CloudTrail's `{"Records": []}`. Several such documents
 * may follow each other. Keeps at most one event in memory. Throws malformed_json if an array is not closed.
 * A body that `isText` has lines only, whatever they begin with.
 */
export function createEventSplitter({ isText = false } = {}): EventSplitter {
  let rest: Buffer = Buffer.alloc(0);
  let mode: Mode = isText ? 'lines' : 'start';
  let closing = '';
  let line = 0;
  let started = false;
  // Where to resume scanning an incomplete element or line, and the state of that scan.
  let scanned = 0;
  let depth = 0;
  let inText = false;
  let skipping = false;

  function drop(count: number): void {
    rest = rest.subarray(count);
    scanned = 0;
  }

  function detectFormat(isEnd: boolean): boolean {
    const first = findNonSpace(rest);
    if (first < 0) {
      drop(rest.length);
      return false;
    }
    const head = rest.subarray(0, first + headMax).toString('latin1');
    const records = recordsHead.exec(head);
    if (rest[first] === 91) {
      openElements(first + 1, ']');
      return true;
    }
    if (records) {
      openElements(Buffer.byteLength(records[0], 'latin1'), ']}');
      return true;
    }
    // The bytes so far may be the beginning of a CloudTrail file: wait for more.
    if (!isEnd && rest.length - first < headMax && '{"Records":['.startsWith(head.replace(/\s+/g, ''))) return false;
    mode = 'lines';
    return true;
  }

  function openElements(count: number, end: string): void {
    drop(count);
    mode = 'elements';
    closing = end;
    depth = 0;
    inText = false;
  }

  function nextLine(isEnd: boolean): RawEvent | undefined {
    const at = rest.indexOf(newline, scanned);
    if (at < 0 && !isEnd) {
      scanned = rest.length;
      if (rest.length > eventBytesMax) {
        skipping = true;
        drop(rest.length);
      }
      return undefined;
    }
    const bytes = rest.subarray(0, at < 0 ? rest.length : at);
    drop(at < 0 ? rest.length : at + 1);
    line += 1;
    if (line > linesMax)
      throw appError('payload_too_large', `The body has more than ${linesMax} lines. Send them in several requests.`);
    const raw = { line, bytes, tooLarge: skipping };
    skipping = false;
    return raw;
  }

  function skipByteOrderMark(): void {
    if (!started && rest[0] === 0xef && rest[1] === 0xbb && rest[2] === 0xbf) drop(3);
    started = true;
  }

  function nextElement(): RawEvent | undefined {
    for (let at = scanned; at < rest.length; at++) {
      const byte = rest[at]!;
      if (inText) {
        if (byte === backslash) at++;
        else if (byte === quote) inText = false;
      } else if (byte === quote) inText = true;
      else if (byte === 123 || byte === 91) depth++;
      else if (depth > 0 && (byte === 125 || byte === 93)) depth--;
      else if (depth === 0 && (byte === 44 || byte === 93)) return endElement(at, byte === 93);
      scanned = at + 1;
    }
    if (rest.length > eventBytesMax + headMax) {
      skipping = true;
      // More than 0 if a backslash at the end escapes the first byte of the next chunk.
      const ahead = scanned - rest.length;
      drop(rest.length);
      scanned = ahead;
    }
    return undefined;
  }

  function endElement(at: number, isLast: boolean): RawEvent | undefined {
    const bytes = rest.subarray(0, at);
    drop(at + 1);
    const isEmpty = !skipping && bytes.every(isSpace);
    const isTooLarge = skipping;
    skipping = false;
    if (isLast) mode = 'after';
    // Nothing before the closing bracket: the array is empty or ends with a comma.
    if (isEmpty && isLast) return undefined;
    // An empty element before a comma is returned, so that it is reported as invalid.
    return { line: (line += 1), bytes, tooLarge: isTooLarge };
  }

  function skipClosing(isEnd: boolean): boolean {
    const first = findNonSpace(rest);
    if (first < 0) {
      drop(rest.length);
      if (isEnd && closing.length > 1) throw malformed();
      return false;
    }
    if (closing.length > 1) {
      if (rest[first] !== 125) throw malformed();
      closing = ']';
      drop(first + 1);
      return true;
    }
    drop(first);
    mode = 'start';
    return true;
  }

  function run(isEnd: boolean): RawEvent[] {
    const events: RawEvent[] = [];
    for (;;) {
      if (mode === 'start') {
        if (rest.length >= 3) skipByteOrderMark();
        if (!detectFormat(isEnd)) break;
      } else if (mode === 'after') {
        if (!skipClosing(isEnd)) break;
      } else {
        const before = rest.length;
        const raw: RawEvent | undefined = mode === 'lines' ? nextLine(isEnd) : nextElement();
        if (raw && (raw.tooLarge || mode !== 'lines' || !raw.bytes.every(isSpace))) events.push(raw);
        if (!raw && rest.length === before) break;
        if (mode === 'lines' && rest.length === 0) break;
      }
    }
    if (isEnd && mode === 'elements') throw malformed();
    return events;
  }

  return {
    push: (chunk) => {
      rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      return run(false);
    },
    end: () => (mode === 'start' && rest.length === 0 ? [] : run(true)),
  };
}

function malformed(): Error {
  return appError('malformed_json', 'The body is not valid JSON: its array of events does not end correctly.');
}
