import { useSyncExternalStore } from 'react';

/** A named set of filters of one page. `search` are the parameters of its address. */
export type SavedView = { name: string; search: Record<string, unknown> };

const listeners = new Set<() => void>();
const keyOf = (page: string): string => `tocsin.views.${page}`;
const none: readonly SavedView[] = [];
const cache = new Map<string, { text: string | null; views: readonly SavedView[] }>();

/** Reads the views of a page from this browser. A damaged entry counts as none. */
function readViews(page: string): readonly SavedView[] {
  const text = localStorage.getItem(keyOf(page));
  const cached = cache.get(page);
  if (cached?.text === text) return cached.views;
  let views = none;
  try {
    const parsed: unknown = JSON.parse(text ?? '[]');
    if (Array.isArray(parsed)) views = parsed as SavedView[];
  } catch {
    // Somebody else wrote it.
  }
  cache.set(page, { text, views });
  return views;
}

function write(page: string, views: readonly SavedView[]): void {
  localStorage.setItem(keyOf(page), JSON.stringify(views));
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The views of a page that this browser keeps, and how to change them. A new view replaces one with its name. */
export function useSavedViews(page: string) {
  const views = useSyncExternalStore(subscribe, () => readViews(page));
  return {
    views,
    save: (view: SavedView) => write(page, [...views.filter(({ name }) => name !== view.name), view]),
    remove: (name: string) =>
      write(
        page,
        views.filter((view) => view.name !== name),
      ),
  };
}
