import type { ParsedLocation } from '@tanstack/react-router';

/**
 * Returns a function that decides whether the places of a location's lists are restored: those of a location that was shown before, and of
 * the same page with another address. The router would also give a new page the scroll position of the page before it.
 * A navigation that opens an entry of a list has `resetScroll: false`. Otherwise the router would undo the list's scrolling to the entry.
 */
export function createScrollMemory(): (options: { location: ParsedLocation }) => boolean {
  const shown = new Set<string | undefined>();
  let lastPath: string | undefined;
  return ({ location: { pathname, state } }) => {
    const isKnown = lastPath === undefined || pathname === lastPath || shown.has(state.__TSR_key);
    shown.add(state.__TSR_key);
    lastPath = pathname;
    return isKnown;
  };
}
