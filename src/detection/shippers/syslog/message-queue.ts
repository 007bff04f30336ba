/** Messages that wait to be stored. */
export type MessageQueue = {
  /** Returns whether more messages are welcome. */
  add: (message: Buffer) => boolean;
  /** Sends what waits, and resolves once everything is stored. */
  drain: () => Promise<void>;
};

type QueueOptions = {
  /** Stores a batch, and repeats that until it succeeds. */
  store: (batch: Buffer) => Promise<void>;
  /** Called when messages are welcome again. */
  onSpace: () => void;
};

/** How long the first message of a batch waits for others. */
const waitMs = 500;
const batchBytesMax = 4 * 1024 * 1024;
const batchMessagesMax = 20_000;
/** The most that waits while a batch is stored. */
const waitingBytesMax = 2 * batchBytesMax;

/** Creates a queue that stores messages in batches, one after the other, in the order in which they arrived. */
export function createMessageQueue({ store, onSpace }: QueueOptions): MessageQueue {
  const waiting: Buffer[] = [];
  let waitingBytes = 0;
  let timer: NodeJS.Timeout | undefined;
  let storing: Promise<void> | undefined;

  const isFull = (): boolean => waitingBytes >= waitingBytesMax;
  const isBatch = (): boolean => waitingBytes >= batchBytesMax || waiting.length >= batchMessagesMax;

  function start(): void {
    clearTimeout(timer);
    timer = undefined;
    storing ??= storeAll().finally(() => {
      storing = undefined;
      if (waiting.length > 0) startSoon();
    });
  }
  function startSoon(): void {
    if (storing) return;
    if (isBatch()) start();
    else timer ??= setTimeout(start, waitMs);
  }
  async function storeAll(): Promise<void> {
    do {
      const batch = take();
      await store(batch);
    } while (isBatch());
  }
  function take(): Buffer {
    const wasFull = isFull();
    const messages = waiting.splice(0, batchMessagesMax);
    const batch = Buffer.concat(messages);
    waitingBytes -= batch.length;
    if (wasFull && !isFull()) onSpace();
    return batch;
  }

  return {
    add(message) {
      waiting.push(message);
      waitingBytes += message.length;
      startSoon();
      return !isFull();
    },
    async drain() {
      while (storing || waiting.length > 0) {
        if (!storing) start();
        await storing;
      }
    },
  };
}
