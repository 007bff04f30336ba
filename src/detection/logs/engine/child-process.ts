import { fork, type ChildProcess } from 'node:child_process';
import { resolve } from 'node:path';
import type { FromChild, OpenOptions, ToChild } from './protocol.ts';

/** Why a child ended: `memory` when it passed its resident bound, `crash` for everything that it did not announce. */
export type ChildEnd = 'memory' | 'crash';

export type EngineChild = { pid: number | undefined; send: (message: ToChild) => void; kill: () => void };

export type ChildEvents = { onMessage: (message: FromChild) => void; onEnd: (why: ChildEnd) => void };

/** Starts an engine process: no environment, no output, its own channel. `onEnd` comes exactly once, however it ends. */
export function startChild(options: OpenOptions, events: ChildEvents): EngineChild {
  const child: ChildProcess = fork(resolve(import.meta.dirname, 'child.ts'), [], {
    env: {},
    execArgv: ['--disable-warning=ExperimentalWarning', '--max-old-space-size=512'],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    cwd: '/',
  });
  let why: ChildEnd = 'crash';
  let ended = false;
  const end = (): void => {
    if (ended) return;
    ended = true;
    events.onEnd(why);
  };
  child.on('message', (message: FromChild) => {
    if (message.kind === 'over') why = 'memory';
    else if (!ended) events.onMessage(message);
  });
  child.on('exit', end);
  child.on('error', () => child.kill('SIGKILL'));
  child.on('error', end);
  // A child that is gone has an exit event of its own: a message that cannot be sent is no second failure.
  const send = (message: ToChild): void => {
    if (child.connected) child.send(message, () => undefined);
  };
  send({ kind: 'open', options });
  return { pid: child.pid, send, kill: () => void child.kill('SIGKILL') };
}
