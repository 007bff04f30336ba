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

/** The bytes that are not split yet, and the place in the format. */
type SplitState = {
  rest: Buffer;
  mode: Mode;
  /** The text that closes the current document after its last element: `]`, or `]}` for CloudTrail's. */
  closing: string;
  /** The number of the last event. */
  line: number;
  /** Whether the bytes so far contain the place of a byte order mark. */
  hasStarted: boolean;
  /** Where to resume scanning an incomplete element or line. */
  scanned: number;
  /** How many brackets are open at `scanned`, and whether it is inside a string. */
  depth: number;
  isInString: boolean;
  /** Whether the current event is too large, so that its bytes are dropped. */
  isSkipping: boolean;
};

/**
 * Splits a body into events: the lines of NDJSON, or the elements of an array or of CloudTrail's `{"Records": []}`. Several such documents
 * may follow each other. Keeps at most one event in memory. Throws malformed_json if an array is not closed.
 * A body that `isText` has lines only, whatever they begin with.
 */
export function createEventSplitter({ isText = false } = {}): EventSplitter {
  const state: SplitState = {
    rest: Buffer.alloc(0),
    mode: isText ? 'lines' : 'start',
    closing: '',
    line: 0,
    hasStarted: false,
    scanned: 0,
    depth: 0,
    isInString: false,
    isSkipping: false,
  };
  return {
    push: (chunk) => {
      state.rest = state.rest.length === 0 ? chunk : Buffer.concat([state.rest, chunk]);
      return splitRest(state, false);
    },
    end: () => (state.mode === 'start' && state.rest.length === 0 ? [] : splitRest(state, true)),
  };
}

/** Returns the complete events of the bytes so far. At the end of the body, the rest is the last one. */
function splitRest(state: SplitState, isEnd: boolean): RawEvent[] {
  const events: RawEvent[] = [];
  for (;;) {
    if (state.mode === 'start') {
      if (state.rest.length >= 3) skipByteOrderMark(state);
      if (!detectFormat(state, isEnd)) break;
    } else if (state.mode === 'after') {
      if (!skipClosing(state, isEnd)) break;
    } else {
      const before = state.rest.length;
      const raw = state.mode === 'lines' ? nextLine(state, isEnd) : nextElement(state);
      if (raw && (raw.tooLarge || state.mode !== 'lines' || !raw.bytes.every(isSpace))) events.push(raw);
      if (!raw && state.rest.length === before) break;
      if (state.mode === 'lines' && state.rest.length === 0) break;
    }
  }
  if (isEnd && state.mode === 'elements') throw malformed();
  return events;
}

function drop(state: SplitState, count: number): void {
  state.rest = state.rest.subarray(count);
  state.scanned = 0;
}

function skipByteOrderMark(state: SplitState): void {
  const { rest } = state;
  if (!state.hasStarted && rest[0] === 0xef && rest[1] === 0xbb && rest[2] === 0xbf) drop(state, 3);
  state.hasStarted = true;
}

/** Enters the next document. Returns false if more bytes are needed to detect its format. */
function detectFormat(state: SplitState, isEnd: boolean): boolean {
  const { rest } = state;
  const first = findNonSpace(rest);
  if (first < 0) {
    drop(state, rest.length);
    return false;
  }
  const head = rest.subarray(0, first + headMax).toString('latin1');
  const records = recordsHead.exec(head);
  if (rest[first] === 91) {
    openElements(state, first + 1, ']');
    return true;
  }
  if (records) {
    openElements(state, Buffer.byteLength(records[0], 'latin1'), ']}');
    return true;
  }
  // The bytes so far may be the beginning of a CloudTrail file: wait for more.
  if (!isEnd && rest.length - first < headMax && '{"Records":['.startsWith(head.replace(/\s+/g, ''))) return false;
  state.mode = 'lines';
  return true;
}

function openElements(state: SplitState, count: number, closing: string): void {
  drop(state, count);
  state.mode = 'elements';
  state.closing = closing;
  state.depth = 0;
  state.isInString = false;
}

/** Returns the next line, or undefined if the text received so far has no further complete line. */
function nextLine(state: SplitState, isEnd: boolean): RawEvent | undefined {
  const { rest } = state;
  const at = rest.indexOf(newline, state.scanned);
  if (at < 0 && !isEnd) {
    state.scanned = rest.length;
    if (rest.length > eventBytesMax) {
      state.isSkipping = true;
      drop(state, rest.length);
    }
    return undefined;
  }
  const bytes = rest.subarray(0, at < 0 ? rest.length : at);
  drop(state, at < 0 ? rest.length : at + 1);
  state.line += 1;
  if (state.line > linesMax)
    throw appError('payload_too_large', `The body has more than ${linesMax} lines. Send them in several requests.`);
  const raw = { line: state.line, bytes, tooLarge: state.isSkipping };
  state.isSkipping = false;
  return raw;
}

/** Returns the next element, or undefined if the text received so far has no further complete element. */
function nextElement(state: SplitState): RawEvent | undefined {
  const { rest } = state;
  // The loop visits each byte, and local variables are faster than fields.
  let { scanned: at, depth, isInString } = state;
  for (; at < rest.length; at++) {
    const byte = rest[at]!;
    if (isInString) {
      if (byte === backslash) at++;
      else if (byte === quote) isInString = false;
    } else if (byte === quote) isInString = true;
    else if (byte === 123 || byte === 91) depth++;
    else if (depth > 0 && (byte === 125 || byte === 93)) depth--;
    else if (depth === 0 && (byte === 44 || byte === 93)) {
      state.depth = 0;
      state.isInString = false;
      return endElement(state, at, byte === 93);
    }
  }
  state.scanned = at;
  state.depth = depth;
  state.isInString = isInString;
  if (rest.length > eventBytesMax + headMax) {
    state.isSkipping = true;
    // More than 0 if a backslash at the end escapes the first byte of the next chunk.
    const ahead = at - rest.length;
    drop(state, rest.length);
    state.scanned = ahead;
  }
  return undefined;
}

function endElement(state: SplitState, at: number, isLast: boolean): RawEvent | undefined {
  const bytes = state.rest.subarray(0, at);
  drop(state, at + 1);
  const isEmpty = !state.isSkipping && bytes.every(isSpace);
  const isTooLarge = state.isSkipping;
  state.isSkipping = false;
  if (isLast) state.mode = 'after';
  // Nothing before the closing bracket: the array is empty or ends with a comma.
  if (isEmpty && isLast) return undefined;
  // An empty element before a comma is returned, so that it is reported as invalid.
  state.line += 1;
  return { line: state.line, bytes, tooLarge: isTooLarge };
}

/** Skips what closes a document after its last element. Returns false if more bytes are needed. */
function skipClosing(state: SplitState, isEnd: boolean): boolean {
  const { rest } = state;
  const first = findNonSpace(rest);
  if (first < 0) {
    drop(state, rest.length);
    if (isEnd && state.closing.length > 1) throw malformed();
    return false;
  }
  if (state.closing.length > 1) {
    if (rest[first] !== 125) throw malformed();
    state.closing = ']';
    drop(state, first + 1);
    return true;
  }
  drop(state, first);
  state.mode = 'start';
  return true;
}

function malformed(): Error {
  return appError('malformed_json', 'The body is not valid JSON: its array of events does not end correctly.');
}
