import { appError } from '../../../platform/lib/errors.ts';
import { eventBytesMax } from './parse-event.ts';

/** One event's bytes. `line` counts lines, or elements where the body is an array or CloudTrail's `Records`, from 1. */
export type RawEvent = { line: number; bytes: Buffer; tooLarge?: boolean };

type Mode = 'start' | 'lines' | 'elements' | 'after';

const recordsHead = /^\s*\{\s*"Records"\s*:\s*\[/;
const headMax = 256;
const quote = 34;
const backslash = 92;
const newline = 10;

const isSpace = (byte: number): boolean => byte === 32 || byte === 9 || byte === 13 || byte === newline;

/**
 * Cuts a body into events: lines (NDJSON), the elements of an array, or of CloudTrail's `{"Records": []}`; such documents may follow one
 * another. Memory is bounded by one event. Throws malformed_json where an array does not end as one.
 */
export function createEventSplitter(): { push: (chunk: Buffer) => RawEvent[]; end: () => RawEvent[] } {
  let rest: Buffer = Buffer.alloc(0);
  let mode: Mode = 'start';
  let closing = '';
  let line = 0;
  let started = false;
  // Where a scan of an element or line that is not yet complete goes on, and its state.
  let scanned = 0;
  let depth = 0;
  let inText = false;
  let skipping = false;

  function drop(count: number): void {
    rest = rest.subarray(count);
    scanned = 0;
  }

  function begin(final: boolean): boolean {
    const first = rest.findIndex((byte) => !isSpace(byte));
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
    // While it may still become the head of a CloudTrail file, it is too early to say.
    if (!final && rest.length - first < headMax && '{"Records":['.startsWith(head.replace(/\s+/g, ''))) return false;
    mode = 'lines';
    return true;
  }

  function openElements(at: number, end: string): void {
    drop(at);
    mode = 'elements';
    closing = end;
    depth = 0;
    inText = false;
  }

  function nextLine(final: boolean): RawEvent | undefined {
    const at = rest.indexOf(newline, scanned);
    if (at < 0 && !final) {
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
    const piece = { line, bytes, tooLarge: skipping };
    skipping = false;
    return piece;
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
      else if (depth === 0 && (byte === 44 || byte === 93)) return element(at, byte === 93);
      scanned = at + 1;
    }
    if (rest.length > eventBytesMax + headMax) {
      skipping = true;
      const over = scanned - rest.length;
      drop(rest.length);
      scanned = over;
    }
    return undefined;
  }

  function element(at: number, last: boolean): RawEvent | undefined {
    const bytes = rest.subarray(0, at);
    drop(at + 1);
    const empty = !skipping && bytes.every(isSpace);
    if (last) mode = 'after';
    const piece = { line: (line += 1), bytes, tooLarge: skipping };
    skipping = false;
    if (!empty) return piece;
    // An empty array, or a comma where none belongs; the latter is told as an element of its own.
    if (last) line -= 1;
    return last ? undefined : piece;
  }

  function after(final: boolean): boolean {
    const first = rest.findIndex((byte) => !isSpace(byte));
    if (first < 0) {
      drop(rest.length);
      if (final && closing.length > 1) throw malformed();
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

  function run(final: boolean): RawEvent[] {
    const pieces: RawEvent[] = [];
    for (;;) {
      if (mode === 'start') {
        if (rest.length >= 3) skipByteOrderMark();
        if (!begin(final)) break;
      } else if (mode === 'after') {
        if (!after(final)) break;
      } else {
        const before = rest.length;
        const piece: RawEvent | undefined = mode === 'lines' ? nextLine(final) : nextElement();
        if (piece && (piece.tooLarge || mode !== 'lines' || !piece.bytes.every(isSpace))) pieces.push(piece);
        if (!piece && rest.length === before) break;
        if (mode === 'lines' && rest.length === 0) break;
      }
    }
    if (final && mode === 'elements') throw malformed();
    return pieces;
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
  return appError('malformed_json', 'The body is an array of events that does not end as JSON.');
}
