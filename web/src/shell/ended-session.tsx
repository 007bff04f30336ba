import { lazy, Suspense, useSyncExternalStore } from 'react';

const EndedSessionDialog = lazy(() => import('./ended-session-dialog.tsx'));

/** `wasSending`: the session ended before a change was saved. */
type State = { isOpen: boolean; wasSending: boolean };

const closed: State = { isOpen: false, wasSending: false };
const listeners = new Set<() => void>();
let state = closed;

function change(next: State): void {
  state = next;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Asks to sign in again over the page, which keeps what was typed in it. */
export const endedSession = {
  report(wasSending: boolean): void {
    change({ isOpen: true, wasSending: state.wasSending || wasSending });
  },
  close(): void {
    change(closed);
  },
};

/** Where the question appears. Rendered once. */
export function EndedSession() {
  const { isOpen, wasSending } = useSyncExternalStore(subscribe, () => state);
  return <Suspense>{isOpen && <EndedSessionDialog wasSending={wasSending} onClose={endedSession.close} />}</Suspense>;
}
