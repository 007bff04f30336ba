/** Longer messages are dropped. An event may have as many bytes. */
export const messageBytesMax = 1024 * 1024;

/** Complete messages of a stream without their framing, and the number of messages that were too long. */
export type Frames = { messages: Buffer[]; dropped: number };

const [lineFeed, nul, space, zero, nine] = [0x0a, 0x00, 0x20, 0x30, 0x39];
const countDigitsMax = 10;
const nothing = Buffer.alloc(0);

type FrameState = {
  /** The begun message. The buffer grows twofold, so that a message that arrives byte by byte costs no more than another one. */
  held: Buffer;
  heldBytes: number;
  /** The held bytes are complete at this total number of bytes, or at the end of a line. */
  awaited: number | 'line end';
  /** The rest of a message that is too long, which is skipped: a number of bytes, or everything up to the end of its line. */
  skipped: 'line' | number | undefined;
};

/**
 * Splits a stream of syslog messages as RFC 6587 describes: a message begins with its length and a space, or ends with a line feed or NUL.
 * Each message may use either form. `push` throws if a length is not a number, because the rest of the stream is then unreadable.
 */
export function createFrameSplitter(): { push: (chunk: Buffer) => Frames; end: () => Frames } {
  const state: FrameState = { held: nothing, heldBytes: 0, awaited: 0, skipped: undefined };
  return {
    push: (chunk) => splitChunk(state, chunk),
    end: () => splitEnd(state),
  };
}

function splitChunk(state: FrameState, chunk: Buffer): Frames {
  const frames: Frames = { messages: [], dropped: 0 };
  const isContinued = state.heldBytes > 0;
  if (isContinued) {
    hold(state, chunk);
    if (!hasAwaited(state, chunk)) return frames;
  }
  const bytes = isContinued ? release(state) : chunk;
  let at = 0;
  while (at < bytes.length) {
    const next = state.skipped === undefined ? readFrame(state, bytes, at, frames) : skip(state, bytes, at);
    if (next === undefined) break;
    at = next;
  }
  if (at < bytes.length) hold(state, bytes.subarray(at));
  return frames;
}

/** Returns the last line, which may lack its end. A counted message that was cut off is incomplete. */
function splitEnd(state: FrameState): Frames {
  const frames: Frames = { messages: [], dropped: 0 };
  const rest = release(state);
  if (rest.length > 0 && !isCounted(rest, 0)) add(frames, rest);
  return frames;
}

function hold(state: FrameState, bytes: Buffer): void {
  const length = state.heldBytes + bytes.length;
  if (length > state.held.length) {
    const larger = Buffer.allocUnsafe(Math.max(length, 2 * state.held.length));
    state.held.copy(larger, 0, 0, state.heldBytes);
    state.held = larger;
  }
  bytes.copy(state.held, state.heldBytes);
  state.heldBytes = length;
}

/** Returns whether the held bytes can end their message. `last` is the chunk that came last. */
function hasAwaited({ awaited, heldBytes }: FrameState, last: Buffer): boolean {
  if (awaited !== 'line end') return heldBytes >= awaited;
  return heldBytes > messageBytesMax || findLineEnd(last, 0) !== -1;
}

function release(state: FrameState): Buffer {
  const bytes = state.held.subarray(0, state.heldBytes);
  state.held = nothing;
  state.heldBytes = 0;
  return bytes;
}

/** Adds the message that begins at a position. Returns the end of its frame, or undefined if more bytes are `awaited`. */
const readFrame = (state: FrameState, bytes: Buffer, at: number, frames: Frames): number | undefined =>
  isCounted(bytes, at) ? readCounted(state, bytes, at, frames) : readLine(state, bytes, at, frames);

function readCounted(state: FrameState, bytes: Buffer, at: number, frames: Frames): number | undefined {
  const gap = bytes.subarray(at, at + countDigitsMax + 1).indexOf(space);
  const digits = bytes.toString('latin1', at, gap === -1 ? at + countDigitsMax + 1 : at + gap);
  if (!/^\d+$/.test(digits) || digits.length > countDigitsMax) throw new Error('A message has no valid length.');
  if (gap === -1) return wait(state, bytes.length - at + 1);
  const [start, length] = [at + gap + 1, Number(digits)];
  if (length > messageBytesMax) {
    frames.dropped += 1;
    state.skipped = length;
    return start;
  }
  if (start + length > bytes.length) return wait(state, start + length - at);
  add(frames, bytes.subarray(start, start + length));
  return start + length;
}

function readLine(state: FrameState, bytes: Buffer, at: number, frames: Frames): number | undefined {
  const end = findLineEnd(bytes, at);
  if (end !== -1) {
    if (end - at > messageBytesMax) frames.dropped += 1;
    else add(frames, bytes.subarray(at, end));
    return end + 1;
  }
  if (bytes.length - at <= messageBytesMax) return wait(state, 'line end');
  frames.dropped += 1;
  state.skipped = 'line';
  return bytes.length;
}

function wait(state: FrameState, awaited: FrameState['awaited']): undefined {
  state.awaited = awaited;
  return undefined;
}

/** Returns the position after the bytes of a message that is too long, as far as they have arrived. */
function skip(state: FrameState, bytes: Buffer, at: number): number {
  if (state.skipped === 'line') {
    const end = findLineEnd(bytes, at);
    if (end !== -1) state.skipped = undefined;
    return end === -1 ? bytes.length : end + 1;
  }
  const left = state.skipped ?? 0;
  const length = Math.min(left, bytes.length - at);
  state.skipped = length === left ? undefined : left - length;
  return at + length;
}

/** Returns whether the message at a position begins with its length. */
const isCounted = (bytes: Buffer, at: number): boolean => bytes[at]! > zero && bytes[at]! <= nine;

/** Adds a message, without the line end that some clients count as part of it. An empty line is no message. */
function add(frames: Frames, bytes: Buffer): void {
  let end = bytes.length;
  while (end > 0 && (bytes[end - 1] === lineFeed || bytes[end - 1] === 0x0d || bytes[end - 1] === nul)) end -= 1;
  if (end > 0) frames.messages.push(bytes.subarray(0, end));
}

function findLineEnd(bytes: Buffer, at: number): number {
  const line = bytes.indexOf(lineFeed, at);
  const text = bytes.indexOf(nul, at);
  return line === -1 || text === -1 ? Math.max(line, text) : Math.min(line, text);
}
