import { setTimeout as sleep } from 'node:timers/promises';
import { isRunning } from '../os/processes.ts';
import type { Server } from './server.ts';

const checkEveryMs = 250;
const firstDelayMs = 100;
const delayMaxMs = 10_000;
const stopWaitMaxMs = 10_000;

/** `stop` ends the supervision and waits up to 10 s for a restart in progress. */
export type Supervisor = { stop: () => Promise<void> };

/** Restarts a server that dies, with growing pauses between attempts, until `stop` is called. */
export function superviseServer(
  first: Server,
  log: (line: string) => void,
  restart: () => Promise<Server>,
): Supervisor {
  const ending = new AbortController();
  let { pid } = first;
  let recovery: Promise<void> | undefined;

  const recover = async (): Promise<void> => {
    log(`the server (pid ${pid}) died and is being restarted`);
    for (let delayMs = firstDelayMs; !ending.signal.aborted; delayMs = Math.min(delayMs * 2, delayMaxMs)) {
      try {
        const server = await restart();
        pid = server.pid;
        log(`restarted (pid ${pid})`);
        if (server.url !== first.url) log('its address or password has changed. Restart this process to use it');
        return;
      } catch (error) {
        log(`restart failed, next attempt in ${delayMs} ms: ${(error as Error).message}`);
        await sleep(delayMs, undefined, { signal: ending.signal, ref: false }).catch(() => {});
      }
    }
  };
  const check = (): void => {
    if (recovery || isRunning(pid)) return;
    recovery = recover().finally(() => {
      recovery = undefined;
    });
  };
  const timer = setInterval(check, checkEveryMs).unref();
  return {
    stop: async () => {
      clearInterval(timer);
      ending.abort();
      await Promise.race([recovery, sleep(stopWaitMaxMs, undefined, { ref: false })]);
    },
  };
}
