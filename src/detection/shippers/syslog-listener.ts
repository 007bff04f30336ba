import { readFileSync } from 'node:fs';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { uuidv7 } from '../../platform/lib/ids.ts';
import type { Logger } from '../../platform/lib/logging/logger.ts';
import type { KeyAuthenticator } from '../../platform/orgs/authenticate.ts';
import { findWriter, findFailure, receiveShipperBody, type ReceiveShipperDeps } from './receive-shipper-body.ts';
import { createFrameSplitter } from './formats/syslog-frames.ts';
import { encodeMessage } from './formats/syslog-decoder.ts';
import type { SyslogListenerSettings } from './shipper-settings.ts';

type SyslogDeps = ReceiveShipperDeps & { auth: KeyAuthenticator; log: Logger };
/** A listener that accepts connections. `stop` ends them and stores what has arrived. */
export type SyslogListener = { port: number; stop: () => Promise<void> };

const connectionsMax = 1_000;
const endMaxMs = 1_000;
const retryFirstMs = 250;
const retryMaxMs = 30_000;

/**
 * Accepts syslog over TCP or TLS and stores the messages in the organization of the listener's key. While they cannot be stored, nothing more
 * is read, so that clients keep their messages. Rejects if the address cannot be bound or a certificate cannot be read.
 */
export async function startSyslogListener(
  deps: SyslogDeps,
  name: string,
  settings: SyslogListenerSettings,
): Promise<SyslogListener> {
  const log = deps.log.child({ syslog: name });
  const stopped = new AbortController();
  const sockets = new Set<Socket>();
  const queue = createMessageQueue({
    store: (batch) => storeBatch({ ...deps, log }, settings, batch, stopped.signal),
    onSpace: () => sockets.forEach((socket) => socket.resume()),
  });
  const server = listenFor(settings, (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    readMessages(socket, queue, log);
  });
  server.maxConnections = connectionsMax;
  server.on('drop', () => log.warn(`more than ${connectionsMax} connections: a new one was refused`));
  server.listen(settings.port, settings.host);
  await once(server, 'listening');
  server.on('error', (error) => log.error({ err: error }, 'a connection could not be accepted'));
  return {
    port: (server.address() as AddressInfo).port,
    async stop() {
      server.close();
      await endConnections(sockets);
      stopped.abort();
      await queue.drain();
    },
  };
}

/** Ends connections after reading what has arrived on them. */
async function endConnections(sockets: ReadonlySet<Socket>): Promise<void> {
  for (const socket of sockets) socket.resume().end();
  // Unlike `once` of Node, this does not fail if a client resets its connection meanwhile.
  const closed = Promise.all([...sockets].map((socket) => new Promise((done) => socket.once('close', done))));
  await Promise.race([closed, sleep(endMaxMs)]);
  for (const socket of sockets) socket.destroy();
}

function listenFor({ tls }: SyslogListenerSettings, accept: (socket: Socket) => void): Server {
  if (!tls) return createServer({ keepAlive: true }, accept);
  const { certificate, privateKey, clientAuthorities } = tls;
  const options = {
    cert: readPem('certificate', certificate),
    key: readPem('privateKey', privateKey),
    ...(clientAuthorities !== undefined && { ca: readPem('clientAuthorities', clientAuthorities), requestCert: true }),
  };
  return createTlsServer({ ...options, handshakeTimeout: 30_000 }, accept);
}

function readPem(name: string, path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new Error(`TOCSIN_SYSLOG: tls.${name}: the file ${path} cannot be read.`, { cause: error });
  }
}

function readMessages(socket: Socket, queue: MessageQueue, log: Logger): void {
  const sender = (socket.remoteAddress ?? '').replace(/^::ffff:/, '');
  const splitter = createFrameSplitter();
  const take = ({ messages, dropped }: ReturnType<typeof splitter.push>): void => {
    if (dropped > 0) log.warn({ sender, dropped }, 'messages were dropped because they are longer than 1 MiB');
    for (const message of messages) if (!queue.add(encodeMessage(sender, message))) socket.pause();
  };
  socket.on('data', (chunk: Buffer) => {
    try {
      take(splitter.push(chunk));
    } catch (error) {
      log.warn({ sender, err: error }, 'a connection was closed because its messages cannot be separated');
      socket.destroy();
    }
  });
  socket.on('end', () => take(splitter.end()));
  socket.on('error', (error) => log.info({ sender, err: error }, 'a connection failed'));
}

/** Stores a batch and repeats that until it succeeds. After a stop, it tries only once. */
async function storeBatch(
  deps: SyslogDeps,
  { key, dataset }: SyslogListenerSettings,
  body: Buffer,
  stopped: AbortSignal,
): Promise<void> {
  const format = { kind: 'syslog', batch: uuidv7(), dataset, receivedMs: deps.clock().getTime() } as const;
  for (let waitMs = retryFirstMs; ; waitMs = Math.min(waitMs * 2, retryMaxMs)) {
    try {
      const receipt = await receiveShipperBody(deps, await findWriter(deps.auth, key), { format, body });
      const failure = findFailure(receipt);
      if (failure) deps.log.error({ err: failure }, 'messages were dropped because their dataset cannot take them');
      return;
    } catch (error) {
      if (stopped.aborted) {
        deps.log.error({ err: error, bytes: body.length }, 'messages were lost because they could not be stored');
        return;
      }
      deps.log.warn({ err: error, waitMs }, 'messages wait because they cannot be stored');
      await sleep(waitMs, undefined, { signal: stopped }).catch(() => undefined);
    }
  }
}

/** Messages that wait to be stored. */
type MessageQueue = {
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
function createMessageQueue({ store, onSpace }: QueueOptions): MessageQueue {
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
