import { once } from 'node:events';
import { type AddressInfo, type Socket, connect, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ServerAddress } from '../src/platform/embedded-postgres/address.ts';

/** A TCP proxy whose connections fail in the ways in which a network does. */
export type FaultProxy = {
  port: number;
  /** Ends all connections. */
  cut: () => void;
  /** Holds back all data in both directions, and that of new connections, until the returned function is called. */
  freeze: () => () => void;
  /** Delays all data from now on. */
  setDelay: (ms: number) => void;
  close: () => void;
};

type ProxyState = { sockets: Set<Socket>; thaw: Promise<unknown>; delayMs: number };

/** Starts a proxy on loopback. Each connection goes to the server that `findTarget` returns at that time. */
export async function startFaultProxy(findTarget: () => ServerAddress): Promise<FaultProxy> {
  const state: ProxyState = { sockets: new Set(), thaw: Promise.resolve(), delayMs: 0 };
  const server = createServer((near) => {
    const { host, port } = findTarget();
    const far = connect(port, host);
    relay(state, near, far);
    relay(state, far, near);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cut = (): void => {
    for (const socket of state.sockets) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    cut,
    freeze: () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      const before = state.thaw;
      state.thaw = Promise.all([before, promise]);
      return resolve;
    },
    setDelay: (ms) => (state.delayMs = ms),
    close: () => {
      server.close();
      cut();
    },
  };
}

/** Passes on what arrives in its order, after the delay and while the proxy is not frozen. Then passes on the end. */
function relay(state: ProxyState, from: Socket, to: Socket): void {
  const passAfter = async (earlier: Promise<void>, dueMs: number, pass: () => void): Promise<void> => {
    await earlier;
    const waitMs = dueMs - performance.now();
    if (waitMs > 0) await sleep(waitMs);
    await state.thaw;
    pass();
  };
  let passed = Promise.resolve();
  const pass = (deliver: () => void): void => {
    passed = passAfter(passed, performance.now() + state.delayMs, deliver);
  };
  state.sockets.add(from);
  from.setNoDelay(true);
  from.on('error', () => undefined);
  from.on('data', (chunk) => pass(() => void to.write(chunk)));
  from.on('close', () => {
    state.sockets.delete(from);
    pass(() => to.destroy());
  });
}
