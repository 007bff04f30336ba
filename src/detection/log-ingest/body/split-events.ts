import { appError } from '../../../platform/lib/errors.ts';
import { eventBytesMax } from '../events/parse-event.ts';
import {
  findEnvelope,
  mayBeEnvelope,
  addMembers,
  backslash,
  closeList,
  closeObject,
  comma,
  findNonSpace,
  isSpace,
  isSpreadOverLines,
  newline,
  openList,
  openObject,
  quote,
  skipSpace,
} from './find-envelope.ts';

/** One event's bytes. `line` is the number, from 1, of its line, or of its element in an array or an envelope. */
export type RawEvent = { line: number; bytes: Buffer; tooLarge?: boolean };

type Mode = 'start' | 'lines' | 'elements' | 'object' | 'after';

const sliceMax = 256;
// Blank lines and invalid events cost time too.
const linesMax = 1_000_000;

export type EventSplitter = { push: (chunk: Buffer) => RawEvent[]; end: () => RawEvent[] };

/** The bytes that are not split yet, and the place in the format. */
type SplitState = {
  rest: Buffer;
  mode: Mode;
  /** Whether an event that is an envelope itself is replaced by its events. */
  expands: boolean;
  /** Whether the current array is the list of an envelope, whose object is still open. */
  isInEnvelope: boolean;
  /** The members of an envelope that each of its events gets, as JSON text. */
  carried: string;
  /** How many bytes of an object are needed to look again whether it is an envelope. */
  wanted: number;
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
 * Splits a body into events: the lines of NDJSON, objects that are spread over lines, or the elements of an array or of an envelope such as `{"Records": []}`. Several such
 * documents may follow each other, and the elements of an array can be envelopes. Keeps at most one event in memory. Throws malformed_json if
 * an array is not closed. A body that `isText` has lines only, whatever they begin with.
 */
export const createEventSplitter = ({ isText = false } = {}): EventSplitter =>
  createSplitter({ isText, isNested: false });

function createSplitter({ isText, isNested }: { isText: boolean; isNested: boolean }): EventSplitter {
  const state: SplitState = {
    rest: Buffer.alloc(0),
    mode: isText ? 'lines' : 'start',
    expands: !isText && !isNested,
    isInEnvelope: false,
    carried: '',
    wanted: 0,
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
      if (state.mode === 'lines' && state.expands && !state.isSkipping && isSpreadOverLines(state.rest)) {
        openElements(state, 0);
        state.mode = 'object';
      }
      const before = state.rest.length;
      const raw = state.mode === 'lines' ? nextLine(state, isEnd) : nextElement(state);
      if (raw && (raw.tooLarge || state.mode !== 'lines' || !raw.bytes.every(isSpace)))
        events.push(...(state.expands ? expand(state, raw) : [raw]));
      if (!raw && state.rest.length === before) break;
      if (state.mode === 'lines' && state.rest.length === 0) break;
    }
  }
  if (isEnd && state.mode === 'elements') throw malformed();
  // The rest of an object that does not end is one invalid event.
  if (isEnd && state.mode === 'object')
    events.push({ line: ++state.line, bytes: state.rest, tooLarge: state.isSkipping });
  return events;
}

/** Returns the events in an envelope that is a line or an element of an array, or the event itself. */
function expand(state: SplitState, raw: RawEvent): RawEvent[] {
  const { bytes } = raw;
  const first = raw.tooLarge ? -1 : findNonSpace(bytes);
  if (bytes[first] !== openObject || !mayBeEnvelope(bytes, first)) return [raw];
  if (!findEnvelope(bytes, first, { isEnd: true, mayBeOpen: false })) return [raw];
  const splitter = createSplitter({ isText: false, isNested: true });
  const inner = [...splitter.push(bytes), ...splitter.end()];
  state.line += inner.length - 1;
  return inner.map((event, index) => ({ ...event, line: raw.line + index }));
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
  if (rest[first] === openList) {
    openElements(state, first + 1);
    return true;
  }
  if (rest[first] === openObject && mayBeEnvelope(rest, first)) {
    const isEnvelope = openEnvelope(state, first, isEnd);
    if (isEnvelope !== false) return isEnvelope === true;
  }
  state.mode = 'lines';
  return true;
}

/** Enters the list of the envelope that begins at `first`. Returns false if that object is no envelope, and undefined if more bytes are needed to decide. */
function openEnvelope(state: SplitState, first: number, isEnd: boolean): boolean | undefined {
  if (!isEnd && state.rest.length < state.wanted) return undefined;
  const envelope = findEnvelope(state.rest, first, { isEnd, mayBeOpen: true });
  // Twice as many bytes for each further look, so that all looks together read the object twice.
  state.wanted = envelope === undefined ? Math.min(state.rest.length * 2, first + eventBytesMax + 1) : 0;
  if (!envelope) return envelope === null ? false : undefined;
  openElements(state, envelope.listStart);
  state.isInEnvelope = true;
  state.carried = envelope.carried;
  return true;
}

function openElements(state: SplitState, count: number): void {
  drop(state, count);
  state.mode = 'elements';
  state.isInEnvelope = false;
  state.carried = '';
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

/** Returns the next element, or the object over lines, or undefined if the text received so far has no further complete one. */
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
    else if (byte === openObject || byte === openList) depth++;
    else if (depth > 0 && (byte === closeObject || byte === closeList)) {
      depth--;
      if (depth === 0 && state.mode === 'object') {
        state.depth = 0;
        return endElement(state, at + 1, true);
      }
    } else if (depth === 0 && (byte === comma || byte === closeList)) {
      state.depth = 0;
      state.isInString = false;
      return endElement(state, at, byte === closeList);
    }
  }
  state.scanned = at;
  state.depth = depth;
  state.isInString = isInString;
  if (rest.length > eventBytesMax + sliceMax) {
    state.isSkipping = true;
    // More than 0 if a backslash at the end escapes the first byte of the next chunk.
    const ahead = at - rest.length;
    drop(state, rest.length);
    state.scanned = ahead;
  }
  return undefined;
}

function endElement(state: SplitState, end: number, isLast: boolean): RawEvent | undefined {
  const { carried, isSkipping: tooLarge } = state;
  const bytes = state.rest.subarray(0, end);
  drop(state, state.mode === 'object' ? end : end + 1);
  const isEmpty = !tooLarge && bytes.every(isSpace);
  state.isSkipping = false;
  if (isLast) state.mode = 'after';
  // Nothing before the closing bracket: the array is empty or ends with a comma.
  if (isEmpty && isLast) return undefined;
  // An empty element before a comma is returned, so that it is reported as invalid.
  state.line += 1;
  return { line: state.line, bytes: carried === '' ? bytes : addMembers(bytes, carried), tooLarge };
}

/** Skips the rest of a document after its last element. Returns false if more bytes are needed. */
function skipClosing(state: SplitState, isEnd: boolean): boolean {
  if (state.isInEnvelope) {
    if (skipMembers(state)) return true;
    if (isEnd) throw malformed();
    return false;
  }
  drop(state, skipSpace(state.rest, 0));
  if (state.rest.length === 0) return false;
  state.mode = 'start';
  return true;
}

/** Skips the members after the list of an envelope and the end of its object. Returns false if more bytes are needed. */
function skipMembers(state: SplitState): boolean {
  const { rest } = state;
  let { depth, isInString } = state;
  let at = state.scanned;
  for (; at < rest.length; at += 1) {
    const byte = rest[at]!;
    if (isInString) {
      if (byte === backslash) at += 1;
      else if (byte === quote) isInString = false;
    } else if (byte === quote) isInString = true;
    else if (byte === openObject || byte === openList) depth += 1;
    else if (byte === closeObject || byte === closeList) {
      if (depth === 0 && byte === closeList) throw malformed();
      if (depth === 0) {
        state.isInEnvelope = false;
        drop(state, at + 1);
        return true;
      }
      depth -= 1;
    }
  }
  drop(state, rest.length);
  Object.assign(state, { depth, isInString, scanned: at - rest.length });
  return false;
}

function malformed(): Error {
  return appError('malformed_json', 'The body is not valid JSON: its list of events does not end correctly.');
}
