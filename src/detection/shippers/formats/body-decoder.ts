import type { ParsedEvent } from '../../log-ingest/events/parse-event.ts';

/**
 * An event of a shipper's body. `item` counts the events of the body from 1. `event` is the reason as text if it is rejected. `explicitId`
 * is the ID that the shipper gave it: the dataset stores it once.
 */
export type DecodedEvent = {
  item: number;
  dataset: string;
  event: ParsedEvent | string;
  explicitId?: string | undefined;
};

/** Turns the slices of a decompressed body into events. Throws malformed_json and validation_failed, which reject the whole body. */
export type BodyDecoder = {
  /** The most bytes of a decompressed body, if fewer than of any other. */
  bytesMax?: number;
  push: (slice: Buffer) => Iterable<DecodedEvent>;
  end: () => Iterable<DecodedEvent>;
  /** Returns what the response needs about the items besides their outcome, as plain data. */
  describeItems?: () => unknown;
};
