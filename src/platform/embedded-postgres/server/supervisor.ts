import { setTimeout as sleep } from 'node:timers/promises';
import { isRunning } from '../os/processes.ts';
import type { Server } from './server.ts';

const lookEveryMs = 250;
const firstDelayMs = 100;
const delayMaxMs = 10_000;
const endMaxMs = 10_000;

/** `end` stops watching and waits, within a bound, for a restart that is under way. */
export type Supervisor = { end: () => Promise<void> };

/** Restarts a server that dies under us, with growing pauses between attempts, until it is told to end. */
export function supervise(first: Server, log: (line: string) => void, restart: () => Promise<Server>): Supervisor {
  const ending = new AbortController();
  let { pid } = first;
  let recovery: Promise<void> | undefined;

  const recover = async (): Promise<void> => {
    log(`the server (pid ${pid}) died, starting it again`);
    for (let delayMs = firstDelayMs; !ending.signal.aborted; delayMs = Math.min(delayMs * 2, delayMaxMs)) {
      try {
        const server = await restart();
        pid = server.pid;
        log(`runs again (pid ${pid})`);
        if (server.url !== first.url) log('its address or password became another: start this process anew to use it');
        return;
      } catch (error) {
        log(`not started again, next attempt in ${delayMs} ms: ${(error as Error).message}`);
        await sleep(delayMs, undefined, { signal: ending.signal, ref: false }).catch(() => {});
      }
    }
  };
  const look = (): void => {
    if (recovery || isRunning(pid)) return;
    recovery = recover().finally(() => {
      recovery = undefined;
    });
  };
  const timer = setInterval(look, lookEveryMs).unref();
  return {
    end: async () => {
      clearInterval(timer);
      ending.abort();
      await Promise.race([recovery, sleep(endMaxMs, undefined, { ref: false })]);
    },
  };
}
