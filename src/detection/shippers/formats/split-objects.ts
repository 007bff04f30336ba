import { eventBytesMax } from '../../log-ingest/events/parse-event.ts';
import type { RawEvent } from '../../log-ingest/body/split-events.ts';

/** Splits JSON objects that follow each other, with or without white space or commas between them, or in an array. */
export function createObjectSplitter(): { push: (slice: Buffer) => RawEvent[]; end: () => RawEvent[] } {
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  let depth = 0;
  let isText = false;
  let isEscaped = false;
  let line = 0;

  function finish(): RawEvent {
    const tooLarge = pendingBytes > eventBytesMax;
    const raw = { line: (line += 1), bytes: Buffer.concat(pending), tooLarge };
    pending = [];
    pendingBytes = 0;
    return raw;
  }
  function keep(bytes: Buffer): void {
    if (bytes.length === 0) return;
    pendingBytes += bytes.length;
    // The start of a larger one is enough to report it.
    if (pendingBytes <= eventBytesMax) pending.push(bytes);
  }

  return {
    push(slice) {
      const found: RawEvent[] = [];
      let from = 0;
      for (let at = 0; at < slice.length; at += 1) {
        const byte = slice[at]!;
        if (isText) {
          if (isEscaped) isEscaped = false;
          else if (byte === 92) isEscaped = true;
          else if (byte === 34) isText = false;
        } else if (depth === 0 && pendingBytes === 0 && from === at && isSeparator(byte)) from = at + 1;
        else if (byte === 34) isText = true;
        else if (byte === 123 || byte === 91) depth += 1;
        else if (byte === 125 || byte === 93) {
          depth -= 1;
          if (depth > 0) continue;
          depth = 0;
          keep(slice.subarray(from, at + 1));
          found.push(finish());
          from = at + 1;
        }
      }
      keep(slice.subarray(from));
      return found;
    },
    end: () => (pendingBytes === 0 ? [] : [finish()]),
  };
}

/** Returns whether a byte is white space, a comma, or a bracket of an array around the objects. */
const isSeparator = (byte: number): boolean => [9, 10, 13, 32, 44, 91, 93].includes(byte);
