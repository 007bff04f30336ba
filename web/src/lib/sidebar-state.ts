import { useSyncExternalStore } from 'react';

const storageKey = 'tocsin.sidebar';
/** From this width on, the sidebar is expanded unless somebody collapsed it. */
const isWide = matchMedia('(min-width: 64rem)');
const listeners = new Set<() => void>();

function readIsCollapsed(): boolean {
  const stored = localStorage.getItem(storageKey);
  return stored === null ? !isWide.matches : stored === 'collapsed';
}

/** Collapses the sidebar to icons, or expands it, and remembers the choice in this browser. */
export function toggleSidebar(): void {
  localStorage.setItem(storageKey, readIsCollapsed() ? 'expanded' : 'collapsed');
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  isWide.addEventListener('change', listener);
  return () => {
    listeners.delete(listener);
    isWide.removeEventListener('change', listener);
  };
}

export const useIsSidebarCollapsed = (): boolean => useSyncExternalStore(subscribe, readIsCollapsed);
