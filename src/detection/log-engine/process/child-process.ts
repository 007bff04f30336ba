import { fork, type ChildProcess } from 'node:child_process';
import { findCompileCache } from '../../../platform/lib/program-files.ts';
import { siblingModule } from '../../../platform/lib/program-files.ts';
import type { FromChild, OpenOptions, ToChild } from '../queries/protocol.ts';

/** Why an engine process ended: `memory` if it exceeded its resident memory limit, `crash` for any other reason. */
export type ChildEnd = 'memory' | 'crash';

export type EngineChild = { pid: number | undefined; send: (message: ToChild) => void; kill: () => void };

export type ChildEvents = { onMessage: (message: FromChild) => void; onEnd: (reason: ChildEnd) => void };

/** Starts an engine process with no output and its own IPC channel. Its environment has nothing but the folder of compiled code. `onEnd` is called exactly once, however it ends. */
export function startChild(options: OpenOptions, events: ChildEvents): EngineChild {
  const child: ChildProcess = fork(siblingModule('child', import.meta), [], {
    env: findCompileCache(),
    execArgv: ['--disable-warning=ExperimentalWarning', '--max-old-space-size=512'],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    cwd: '/',
  });
  let reason: ChildEnd = 'crash';
  let hasEnded = false;
  const end = (): void => {
    if (hasEnded) return;
    hasEnded = true;
    events.onEnd(reason);
  };
  child.on('message', (message: FromChild) => {
    if (message.kind === 'memory-exceeded') reason = 'memory';
    else if (!hasEnded) events.onMessage(message);
  });
  child.on('exit', end);
  child.on('error', () => child.kill('SIGKILL'));
  child.on('error', end);
  // Ignore send errors: the end of the process is reported by its exit event.
  const send = (message: ToChild): void => {
    if (child.connected) child.send(message, () => undefined);
  };
  send({ kind: 'open', options });
  return { pid: child.pid, send, kill: () => void child.kill('SIGKILL') };
}
