import { useLayoutEffect, useRef } from 'react';

/** Returns a ref for a row of links that may be wider than the window. The link of the current page is scrolled into its middle. */
export function useCurrentInView<T extends HTMLElement>(current: string): React.RefObject<T | null> {
  const row = useRef<T>(null);
  useLayoutEffect(() => {
    const link = row.current?.querySelector('[aria-current=page]');
    if (!row.current || !link) return;
    const [outer, inner] = [row.current.getBoundingClientRect(), link.getBoundingClientRect()];
    row.current.scrollLeft += inner.left + inner.width / 2 - (outer.left + outer.width / 2);
  }, [current]);
  return row;
}
