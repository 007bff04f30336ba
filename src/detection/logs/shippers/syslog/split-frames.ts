/** Longer messages are dropped. An event may have as many bytes. */
export const messageBytesMax = 1024 * 1024;

/** Complete messages of a stream without their framing, and the number of messages that were too long. */
export type Frames = { messages: Buffer[]; dropped: number };

const [lineFeed, nul, space, zero, nine] = [0x0a, 0x00, 0x20, 0x30, 0x39];
const countDigitsMax = 10;
const nothing = Buffer.alloc(0);

/**
 * Splits a stream of syslog messages as RFC 6587 describes: a message begins with its length and a space, or ends with a line feed or NUL.
 * Each message may use either form. `push` throws if a length is not a number, because the rest of the stream is then unreadable.
 */
export function createFrameSplitter(): { push: (chunk: Buffer) => Frames; end: () => Frames } {
  // The begun message. The buffer grows twofold, so that a message that arrives byte by byte costs no more than another one.
  let held: Buffer = nothing;
  let heldBytes = 0;
  /** The held bytes are complete at this total number of bytes, or at the end of a line. */
  let awaited: number | 'line end' = 0;
  let skipped: 'line' | number | undefined;

  function push(chunk: Buffer): Frames {
    const frames: Frames = { messages: [], dropped: 0 };
    const isContinued = heldBytes > 0;
    if (isContinued) {
      hold(chunk);
      if (!hasAwaited(chunk)) return frames;
    }
    const bytes = isContinued ? release() : chunk;
    let at = 0;
    while (at < bytes.length) {
      const next = skipped === undefined ? readFrame(bytes, at, frames) : skip(bytes, at);
      if (next === undefined) break;
      at = next;
    }
    if (at < bytes.length) hold(bytes.subarray(at));
    return frames;
  }

  function hold(bytes: Buffer): void {
    if (heldBytes + bytes.length > held.length) {
      const larger = Buffer.allocUnsafe(Math.max(heldBytes + bytes.length, 2 * held.length));
      held.copy(larger, 0, 0, heldBytes);
      held = larger;
    }
    bytes.copy(held, heldBytes);
    heldBytes += bytes.length;
  }

  /** Reports whether the held bytes can end their message. `last` is the chunk that came last. */
  function hasAwaited(last: Buffer): boolean {
    if (awaited !== 'line end') return heldBytes >= awaited;
    return heldBytes > messageBytesMax || findLineEnd(last, 0) !== -1;
  }

  function release(): Buffer {
    const bytes = held.subarray(0, heldBytes);
    held = nothing;
    heldBytes = 0;
    return bytes;
  }

  /** Adds the message that begins at a position. Returns the end of its frame, or undefined if more bytes are `awaited`. */
  function readFrame(bytes: Buffer, at: number, frames: Frames): number | undefined {
    return isCounted(bytes, at) ? readCounted(bytes, at, frames) : readLine(bytes, at, frames);
  }

  function readCounted(bytes: Buffer, at: number, frames: Frames): number | undefined {
    const gap = bytes.subarray(at, at + countDigitsMax + 1).indexOf(space);
    const digits = bytes.toString('latin1', at, gap === -1 ? at + countDigitsMax + 1 : at + gap);
    if (!/^\d+$/.test(digits) || digits.length > countDigitsMax) throw new Error('A message has no valid length.');
    if (gap === -1) return wait(bytes.length - at + 1);
    const [start, length] = [at + gap + 1, Number(digits)];
    if (length > messageBytesMax) {
      frames.dropped += 1;
      skipped = length;
      return start;
    }
    if (start + length > bytes.length) return wait(start + length - at);
    add(frames, bytes.subarray(start, start + length));
    return start + length;
  }

  function readLine(bytes: Buffer, at: number, frames: Frames): number | undefined {
    const end = findLineEnd(bytes, at);
    if (end !== -1) {
      if (end - at > messageBytesMax) frames.dropped += 1;
      else add(frames, bytes.subarray(at, end));
      return end + 1;
    }
    if (bytes.length - at <= messageBytesMax) return wait('line end');
    frames.dropped += 1;
    skipped = 'line';
    return bytes.length;
  }

  function wait(what: typeof awaited): undefined {
    awaited = what;
    return undefined;
  }

  /** Returns the position after the bytes of a message that is too long, as far as they have arrived. */
  function skip(bytes: Buffer, at: number): number {
    if (skipped === 'line') {
      const end = findLineEnd(bytes, at);
      if (end !== -1) skipped = undefined;
      return end === -1 ? bytes.length : end + 1;
    }
    const length = Math.min(skipped as number, bytes.length - at);
    skipped = length === skipped ? undefined : (skipped as number) - length;
    return at + length;
  }

  return {
    push,
    end() {
      const frames: Frames = { messages: [], dropped: 0 };
      // The last line may lack its end. A counted message that was cut off is incomplete.
      const rest = release();
      const isLine = rest.length > 0 && !isCounted(rest, 0);
      if (isLine) add(frames, rest);
      return frames;
    },
  };
}

/** Reports whether the message at a position begins with its length. */
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
