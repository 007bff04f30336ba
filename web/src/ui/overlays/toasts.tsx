import { lazy, Suspense, useSyncExternalStore } from 'react';
import type { ToastMessage } from './toast-list.tsx';

const ToastList = lazy(() => import('./toast-list.tsx'));
const listeners = new Set<() => void>();
let messages: readonly ToastMessage[] = [];
let nextId = 1;

function change(next: readonly ToastMessage[]): void {
  messages = next;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Adds short messages about what happened, from anywhere. The latest three are shown. */
export const toasts = {
  add(message: Omit<ToastMessage, 'id'>): void {
    change([...messages.slice(-2), { ...message, id: nextId++ }]);
  },
  remove(id: number): void {
    change(messages.filter((message) => message.id !== id));
  },
};

/** Where the messages appear. Rendered once. */
export function Toasts() {
  const list = useSyncExternalStore(subscribe, () => messages);
  return (
    <div role="status" aria-live="polite" className="fixed right-4 bottom-4 z-50 w-[min(22rem,calc(100vw-2rem))]">
      <Suspense>{list.length > 0 && <ToastList messages={list} onRemove={toasts.remove} />}</Suspense>
    </div>
  );
}
