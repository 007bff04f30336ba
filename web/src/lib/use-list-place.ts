import { useLayoutEffect, type RefObject } from 'react';

/**
 * Returns the attribute by which the router remembers how far a list is scrolled, for each filter of its own. With another filter, the list shows
 * its top.
 */
export function useListPlace(
  scroller: RefObject<HTMLElement | null>,
  name: string,
  filter: unknown,
): { 'data-scroll-restoration-id': string } {
  const id = encodeURIComponent(`${name} ${JSON.stringify(filter)}`);
  useLayoutEffect(() => {
    scroller.current?.scrollTo({ top: 0 });
  }, [id, scroller]);
  return { 'data-scroll-restoration-id': id };
}
