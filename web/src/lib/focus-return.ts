import { type RefObject, useEffect, useRef, useState } from 'react';

const focusable = 'a[href], button:not(:disabled), input:not(:disabled), select, textarea, [tabindex="0"]';

/**
 * Remembers an element and its place. The function that it returns finds the element again or, if it has been removed, what can have the
 * focus in its place: in the row that moved up, or else around it. Null if the whole place is gone.
 */
function rememberPlace(element: Element | null): () => HTMLElement | null {
  const path: { element: Element; index: number }[] = [];
  for (let each = element; each && each !== document.body; each = each.parentElement)
    path.push({ element: each, index: [...(each.parentElement?.children ?? [])].indexOf(each) });
  return () => {
    const first = path.findIndex((place) => place.element.isConnected);
    if (first === 0) return path[0]!.element as HTMLElement;
    if (first < 0) return null;
    for (let level = first; level < path.length; level += 1) {
      const { children } = path[level]!.element;
      const inPlace = children[Math.min(path[level - 1]!.index, children.length - 1)];
      const found = inPlace?.querySelector<HTMLElement>(focusable) ?? path[level]!.element.querySelector(focusable);
      if (found instanceof HTMLElement) return found;
    }
    return null;
  };
}

/** Remembers what has the focus when the component first renders. Returns a function that finds where it goes when the component closes. */
export function useReturnTarget(): () => HTMLElement | null {
  const [find] = useState(() => rememberPlace(document.activeElement));
  return find;
}

/** Returns the focus to where it was when a form in the page that had it goes away. */
export function useFocusReturn(): void {
  const find = useReturnTarget();
  useEffect(
    () => () => {
      // The element with the focus is still being removed.
      queueMicrotask(() => {
        if (document.activeElement === document.body) find()?.focus({ preventScroll: true });
      });
    },
    [find],
  );
}

/** The entry of a list that is open beside it, or the table that contains it. */
const openEntry = '[role="option"][aria-selected="true"], [role="grid"][aria-activedescendant]';

/**
 * Keeps the focus on the entry that the panel beside a list shows, also if a key has opened it, so that Tab continues into the panel. Returns
 * the focus to the list when the panel closes. A focus elsewhere stays. Spread the result on the list's element.
 */
export function useListFocus(list: RefObject<HTMLElement | null>, isPanelOpen: boolean) {
  const last = useRef<() => HTMLElement | null>(null);
  const lastEntry = useRef<HTMLElement>(null);
  const wasOpen = useRef(isPanelOpen);
  useEffect(() => {
    const { activeElement } = document;
    const isLost = activeElement === document.body;
    const entry = (isPanelOpen && list.current?.querySelector<HTMLElement>(openEntry)) || null;
    if (entry && entry !== lastEntry.current) {
      if (isLost || (activeElement?.role === 'option' && list.current?.contains(activeElement)))
        entry.focus({ preventScroll: true });
    } else if (wasOpen.current && !isPanelOpen && isLost) {
      const target = last.current?.() ?? list.current?.querySelector<HTMLElement>('[tabindex="0"]');
      target?.focus({ preventScroll: true });
    }
    lastEntry.current = entry;
    wasOpen.current = isPanelOpen;
  });
  return {
    onFocus: (event: React.FocusEvent<HTMLElement>) => {
      last.current = rememberPlace(event.target);
    },
  };
}

/** Keeps the focus in a list whose row with the focus is removed. Spread the result on the list's element. */
export function useRowFocus() {
  const last = useRef<{ element: Element; find: () => HTMLElement | null }>(null);
  useEffect(() => {
    if (document.activeElement === document.body && last.current?.element.isConnected === false)
      last.current.find()?.focus();
  });
  return {
    onFocus: ({ target }: React.FocusEvent<HTMLElement>) => {
      last.current = { element: target, find: rememberPlace(target) };
    },
  };
}
